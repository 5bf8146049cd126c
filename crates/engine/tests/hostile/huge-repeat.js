// harm: repeats texts without end, and catches; expect: stopped memory|stopped asked|stopped limit
try { const a = []; for (;;) a.push("y".repeat(1 << 20)) } catch {}
return "caught";
