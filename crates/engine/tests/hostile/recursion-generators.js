// harm: delegates generators to themselves, deeper than the stack; expect: returns "contained"
try { function* g() { yield* g() } [...g()]; return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
