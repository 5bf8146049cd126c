// harm: squares a number for ever; expect: returns "contained"
let n = 3n;
try { for (;;) n *= n } catch (error) { return error instanceof RangeError ? "contained" : error.name }
