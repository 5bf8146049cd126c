// harm: adds keys without end, and catches; expect: stopped memory|stopped asked|stopped limit
try { const o = {}; for (let i = 0; ; i++) o["k" + i] = i } catch {}
return "caught";
