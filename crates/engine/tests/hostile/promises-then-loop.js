// harm: chains thens for ever; expect: stopped asked|stopped memory|stopped limit
await new Promise(() => { const go = () => Promise.resolve().then(go); go() });
return "over";
