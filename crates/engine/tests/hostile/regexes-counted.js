// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /^(?:(?:a{1,20}){1,20}){1,20}$/.test("a".repeat(400) + "b") } catch {}
return "finished";
