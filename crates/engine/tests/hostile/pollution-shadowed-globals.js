// harm: replaces every global that the prelude may use at run time; expect: returns "contained"
for (const name of ["JSON", "Promise", "Proxy", "Math", "Map", "Set", "Object", "Array", "String", "Error", "TypeError", "RangeError", "Reflect", "Symbol", "Date"]) { try { globalThis[name] = function () { throw new globalThis.Boom() } } catch {} }
const got = await tools.x.get({ a: 1 });
await tools["my-src"]["a b"]({});
store("k", [1]);
const rows = await parallel([1, 2], async (n) => n + 1);
console.log({ a: [1] });
return got.a === 1 && load("k")[0] === 1 && rows[1].value === 3 ? "contained" : "broken";
