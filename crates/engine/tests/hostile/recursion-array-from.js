// harm: iterates itself, deeper than the stack; expect: returns "contained"
try { const o = { [Symbol.iterator]() { return Array.from(o) } }; Array.from(o); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
