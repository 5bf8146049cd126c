// harm: sorts in a comparator, deeper than the stack; expect: returns "contained"
try { const c = (a, b) => { [2, 1].sort(c); return 0 }; [2, 1].sort(c); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
