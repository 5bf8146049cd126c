// harm: doubles a text, and catches; expect: stopped memory|stopped asked|stopped limit
try { let s = "x"; for (;;) s += s } catch {}
return "caught";
