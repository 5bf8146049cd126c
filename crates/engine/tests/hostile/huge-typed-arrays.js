// harm: holds typed arrays without end, and catches; expect: stopped memory|stopped asked|stopped limit
try { const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1)) } catch {}
return "caught";
