// harm: fills a set without end, and catches; expect: stopped memory|stopped asked|stopped limit
try { const m = new Set(); for (let i = 0; ; i++) m.add("key " + i) } catch {}
return "caught";
