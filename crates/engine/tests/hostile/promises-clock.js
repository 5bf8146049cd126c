// harm: spins on the frozen clock; expect: stopped asked|stopped memory|stopped limit
const end = Date.now() + 1000;
while (Date.now() < end);;
return "over";
