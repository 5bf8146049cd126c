// harm: fills two thousand million elements, and catches; expect: stopped memory|stopped asked|stopped limit
try { new Array(2 ** 31).fill(0) } catch {}
return "caught";
