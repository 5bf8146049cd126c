// harm: pushes without end, and catches; expect: stopped memory|stopped asked|stopped limit
try { const a = []; for (;;) a.push(new Array(1000).fill(1)) } catch {}
return "caught";
