// harm: sends a revoked proxy; expect: returns "contained"
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
try { await tools.x.get(proxy) } catch (error) { return error.code === "invalid_arguments" && error.call === undefined ? "contained" : error.code }
return "sent";
