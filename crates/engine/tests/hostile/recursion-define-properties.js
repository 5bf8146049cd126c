// harm: lists itself in a getter, deeper than the stack; expect: returns "contained"
try { const o = {}; Object.defineProperty(o, "a", { get() { return Object.entries(o) }, enumerable: true }); o.a; return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
