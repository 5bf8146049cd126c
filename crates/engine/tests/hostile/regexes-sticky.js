// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /(?:a+)+b/y.exec("a".repeat(60)) } catch {}
return "finished";
