// harm: makes a number of a thousand million digits; expect: returns "contained"
try { 3n ** 4000000000n; return "made" } catch (error) { return error instanceof RangeError ? "contained" : error.name }
