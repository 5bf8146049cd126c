// harm: writes deep JSON, deeper than the stack; expect: returns "contained"|stopped asked
try { let a = []; for (let i = 0; i < 2e4; i++) a = [a]; JSON.stringify(a); return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
