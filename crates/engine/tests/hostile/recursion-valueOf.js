// harm: makes itself a number, deeper than the stack; expect: returns "contained"
try { const o = { valueOf: () => +o }; +o; return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
