// harm: resolves with itself for ever; expect: stopped asked|stopped memory|stopped limit
const t = { then(yes) { queueMicrotask(() => yes(t)) } };
await t;
return "over";
