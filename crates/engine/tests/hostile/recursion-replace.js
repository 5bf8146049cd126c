// harm: replaces in a replacer, deeper than the stack; expect: returns "contained"
try { const f = () => "a".replace("a", f); "a".replace("a", f); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
