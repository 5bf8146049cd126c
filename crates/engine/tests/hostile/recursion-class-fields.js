// harm: makes itself in its own field, deeper than the stack; expect: returns "contained"
try { class A { a = new A() } new A(); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
