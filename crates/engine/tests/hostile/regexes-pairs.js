// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /(x+x+)+y/.test("x".repeat(60)) } catch {}
return "finished";
