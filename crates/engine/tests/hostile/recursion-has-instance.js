// harm: asks whether it is an instance, deeper than the stack; expect: returns "contained"
try { const o = { [Symbol.hasInstance]: (x) => x instanceof o }; 1 instanceof o; return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
