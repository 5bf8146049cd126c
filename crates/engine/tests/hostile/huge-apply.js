// harm: spreads thirty million arguments, and catches; expect: stopped memory|stopped asked|stopped limit
try { Math.max(...new Array(3e7).fill(1)); const a = []; for (;;) a.push([...a, 1]) } catch {}
return "caught";
