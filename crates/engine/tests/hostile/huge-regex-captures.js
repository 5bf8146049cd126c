// harm: keeps captures without end, and catches; expect: stopped memory|stopped asked|stopped limit
try { const a = []; for (;;) a.push(/(a*)(a*)(a*)(a*)/.exec("a".repeat(1 << 16))) } catch {}
return "caught";
