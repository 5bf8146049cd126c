// harm: shifts a number by 2^40; expect: returns "contained"
try { 1n << 2n ** 40n; return "made" } catch (error) { return error instanceof RangeError ? "contained" : error.name }
