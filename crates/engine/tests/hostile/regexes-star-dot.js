// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /(.*)*x/.test("a".repeat(40)) } catch {}
return "finished";
