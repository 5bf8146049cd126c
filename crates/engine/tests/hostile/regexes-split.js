// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { "a".repeat(60).split(/(?:a+)+b/) } catch {}
return "finished";
