// harm: reads through a chain of getters, deeper than the stack; expect: returns "contained"
try { let o = { a: 1 }; for (let i = 0; i < 1e5; i++) { const before = o; o = { get a() { return before.a } } } o.a; return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
