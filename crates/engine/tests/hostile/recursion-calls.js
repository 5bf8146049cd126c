// harm: calls itself, deeper than the stack; expect: returns "contained"
try { const f = (n) => f(n + 1) + 1; f(0); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
