// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { [..."a".repeat(60).matchAll(/(?:a+)+b/g)] } catch {}
return "finished";
