// harm: stacks iterators, deeper than the stack; expect: returns "contained"
try { let it = [1].values(); for (let i = 0; i < 5e4; i++) it = it.map((x) => x); [...it]; return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
