// harm: fills a map without end, and catches; expect: stopped memory|stopped asked|stopped limit
try { const m = new Map(); for (let i = 0; ; i++) m.set(i, { i }) } catch {}
return "caught";
