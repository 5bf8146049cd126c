// harm: splits without end, and catches; expect: stopped memory|stopped asked|stopped limit
try { const a = []; for (;;) a.push("a,".repeat(1 << 16).split(",")) } catch {}
return "caught";
