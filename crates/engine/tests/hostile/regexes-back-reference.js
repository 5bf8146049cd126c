// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /(a*)*\1*b/.test("a".repeat(40)) } catch {}
return "finished";
