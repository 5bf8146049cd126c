// harm: revokes itself while it is read; expect: returns "contained"
let revoke;
const made = Proxy.revocable({ a: 1 }, { ownKeys(t) { made.revoke(); return Reflect.ownKeys(t) } });
try { await tools.x.get(made.proxy) } catch (error) { return error.code === "invalid_arguments" ? "contained" : error.code }
return "sent";
