// harm: replaces each of a million characters by a million, and catches; expect: stopped memory|stopped asked|stopped limit
try { "a".repeat(1 << 20).replace(/a/g, "b".repeat(1 << 20)) } catch {}
return "caught";
