// harm: tags in a tag, deeper than the stack; expect: returns "contained"
try { const t = () => t`a`; t`a`; return "no end found" } catch (error) { return error instanceof RangeError || error instanceof SyntaxError ? "contained" : error.name }
