// harm: compiles a pattern of a hundred thousand groups; expect: returns "contained"
try { new RegExp("()".repeat(1e5)); return "made" } catch (error) { return error instanceof SyntaxError ? "contained" : error.name }
