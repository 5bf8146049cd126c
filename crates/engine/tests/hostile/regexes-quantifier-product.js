// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /(?:(?:(?:a{1000}){1000}){1000}){1000}/.test("a".repeat(1e6)) } catch {}
return "finished";
