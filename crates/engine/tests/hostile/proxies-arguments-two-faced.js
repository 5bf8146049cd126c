// harm: shows other arguments at each look; expect: returns "contained"
let n = 0;
const args = new Proxy({}, { ownKeys: () => ["a"], getOwnPropertyDescriptor: () => ({ value: n++, enumerable: true, configurable: true }), get: (_, key) => key === "a" ? n++ : undefined });
const got = await tools.x.get(args);
return typeof got.a === "number" && Object.keys(got).length === 1 ? "contained" : got;
