// harm: writes an exponential text, and catches; expect: stopped memory|stopped asked|stopped limit
try { let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; JSON.stringify(a) } catch {}
return "caught";
