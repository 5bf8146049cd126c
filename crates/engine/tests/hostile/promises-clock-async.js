// harm: waits on the frozen clock; expect: stopped asked|stopped memory|stopped limit
const end = performance.now() + 1000;
while (performance.now() < end) await null;
return "over";
