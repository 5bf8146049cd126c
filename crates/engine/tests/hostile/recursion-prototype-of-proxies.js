// harm: looks up through proxies in a prototype chain, deeper than the stack; expect: returns "contained"
try { let p = {}; for (let i = 0; i < 1e5; i++) p = Object.create(new Proxy(p, {})); p.q; return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
