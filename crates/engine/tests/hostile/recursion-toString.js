// harm: makes itself a text, deeper than the stack; expect: returns "contained"
try { const o = { toString: () => `${o}` }; String(o); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
