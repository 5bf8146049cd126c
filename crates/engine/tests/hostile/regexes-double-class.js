// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /^([a-zA-Z]+)*$/.test("a".repeat(40) + "!") } catch {}
return "finished";
