// harm: compiles a deep pattern, deeper than the stack; expect: returns "contained"
try { new RegExp("(?:".repeat(1e5) + ")".repeat(1e5)); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
