// harm: deletes the globals that the prelude may use; expect: returns "contained"
const kept = { Object, Reflect };
for (const name of kept.Reflect.ownKeys(globalThis)) { if (name !== "globalThis") { try { delete globalThis[name] } catch {} } }
const got = await tools.x.get({ a: 1 });
await tools["my-src"]["a b"]({});
try { await tools.x.get(1n) } catch (error) { if (error.code !== "invalid_arguments") return error.message }
return got.a === 1 ? "contained" : got;
