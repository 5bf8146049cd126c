// harm: asks for stacks without end; expect: returns "contained"
try { Error.stackTraceLimit = 1e9 } catch {}
const deep = (n) => n ? deep(n - 1) : new Error("deep").stack.length;
return deep(500) < 1e6 ? "contained" : "long";
