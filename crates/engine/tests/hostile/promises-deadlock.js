// harm: waits for itself; expect: stalled
let yes;
const a = new Promise((y) => { yes = y });
const b = (async () => { await a; yes() })();
await b;
