// harm: doubles an array, and catches; expect: stopped memory|stopped asked|stopped limit
try { let a = [1]; for (;;) a = a.concat(a) } catch {}
return "caught";
