// harm: rejects and catches for ever; expect: stopped asked|stopped memory|stopped limit
const go = () => Promise.reject(1).finally(go).catch(go);
await go();
return "over";
