// harm: sends such a value, and catches; expect: stopped memory|stopped asked|stopped limit
let a = [1];
for (let i = 0; i < 60; i++) a = [a, a];
try { await tools.x.get(a) } catch {}
return "caught";
