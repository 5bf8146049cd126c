// harm: reads JSON in a reviver, deeper than the stack; expect: returns "contained"
try { let text = "1"; for (let i = 0; i < 2000; i++) text = `[${text}]`; const revive = (k, v) => JSON.parse("[[1]]", revive); JSON.parse(text, revive); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
