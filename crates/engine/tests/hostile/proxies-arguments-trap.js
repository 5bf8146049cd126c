// harm: makes a call from inside the traps of its arguments, to break the order of calls; expect: returns "contained"
let traps = 0;
const args = new Proxy({ a: 1 }, { ownKeys(t) { if (traps++ === 0) tools.x.put({ inner: 1 }); return Reflect.ownKeys(t) } });
const got = await tools.x.get(args);
return traps > 0 && got.a === 1 ? "contained" : got;
