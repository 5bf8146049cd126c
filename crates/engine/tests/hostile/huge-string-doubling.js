// harm: doubles a text, and catches; expect: stopped memory|stopped asked|stopped limit
try { const all = []; let s = "x"; for (;;) { s += s; all.push([...s]) } } catch {}
return "caught";
