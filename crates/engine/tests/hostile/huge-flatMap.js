// harm: multiplies an array, and catches; expect: stopped memory|stopped asked|stopped limit
try { let a = [1]; for (;;) a = a.flatMap((x) => [x, x, x]) } catch {}
return "caught";
