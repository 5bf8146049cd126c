// harm: applies itself, deeper than the stack; expect: returns "contained"
try { const f = () => Reflect.apply(f, null, []); f(); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
