// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /^(\p{L}+)+$/u.test("é".repeat(40) + "!") } catch {}
return "finished";
