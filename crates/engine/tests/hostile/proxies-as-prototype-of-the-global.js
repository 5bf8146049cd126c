// harm: puts a proxy behind the global object, to see what the prelude looks up; expect: returns "contained"
const asked = [];
Object.setPrototypeOf(globalThis, new Proxy({}, { has: (_, key) => { asked.push(String(key)); return false }, get: (_, key) => { asked.push(String(key)); return undefined } }));
await tools.x.get({ a: 1 });
console.log(1);
const leaked = asked.filter((name) => ["native", "emitCall", "encode", "hooks", "output"].includes(name));
return leaked.length === 0 ? "contained" : leaked;
