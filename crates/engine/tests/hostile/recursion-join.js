// harm: joins deep arrays, deeper than the stack; expect: returns "contained"
try { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
