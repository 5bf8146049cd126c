// harm: makes symbols without end, and catches; expect: stopped memory|stopped asked|stopped limit
try { const a = []; for (;;) a.push(Symbol("s".repeat(1000))) } catch {}
return "caught";
