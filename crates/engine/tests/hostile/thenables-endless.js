// harm: is a thenable that resolves with itself; expect: stopped asked|stopped limit
const t = { then(yes) { yes(t) } };
await t;
