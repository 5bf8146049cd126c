// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /^(a+)+$/.test("a".repeat(40) + "b") } catch {}
return "finished";
