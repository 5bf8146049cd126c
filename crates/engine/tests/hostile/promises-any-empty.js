// harm: asks for any of none; expect: returns "contained"
try { await Promise.any([]); } catch (error) { return error.constructor.name === "AggregateError" ? "contained" : error.name }
