// harm: leaves its errors without lines; expect: returns "contained"
try { Error.stackTraceLimit = 0 } catch {}
try { null.x } catch (error) { return typeof error.stack === "string" && error.stack.includes("script") ? "contained" : "no lines" }
