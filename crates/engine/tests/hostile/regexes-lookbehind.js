// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /(?<=x(a+)+)b/.test("a".repeat(40) + "b") } catch {}
return "finished";
