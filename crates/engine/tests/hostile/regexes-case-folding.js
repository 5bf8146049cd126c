// harm: never finishes matching; expect: stopped asked|stopped limit|stopped memory
try { /^(K+)+$/iu.test("\u212a".repeat(40) + "!") } catch {}
return "finished";
