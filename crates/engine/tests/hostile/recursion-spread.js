// harm: spreads itself in a getter, deeper than the stack; expect: returns "contained"
try { const o = { get a() { return { ...o } } }; o.a; return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
