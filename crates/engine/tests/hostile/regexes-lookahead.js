// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /^(?=(a+)+$)b/.test("a".repeat(40) + "c") } catch {}
return "finished";
