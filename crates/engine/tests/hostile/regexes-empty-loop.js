// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /(?:(?:a?){1000}){1000}b/.test("a".repeat(1000)) } catch {}
return "finished";
