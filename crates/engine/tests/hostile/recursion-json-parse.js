// harm: reads deep JSON, deeper than the stack; expect: returns "contained"
try { JSON.parse("[".repeat(2e5) + "]".repeat(2e5)); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
