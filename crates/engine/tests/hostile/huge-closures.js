// harm: makes closures without end, and catches; expect: stopped memory|stopped asked|stopped limit
try { const a = []; for (let i = 0; ; i++) a.push(() => i) } catch {}
return "caught";
