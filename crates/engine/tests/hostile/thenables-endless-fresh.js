// harm: is a thenable that resolves with a new one; expect: stopped asked|stopped limit
const t = () => ({ then(yes) { yes(t()) } });
await t();
