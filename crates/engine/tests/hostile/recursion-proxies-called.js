// harm: calls through proxies, deeper than the stack; expect: returns "contained"
try { let f = () => 1; for (let i = 0; i < 1e5; i++) f = new Proxy(f, {}); f(); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
