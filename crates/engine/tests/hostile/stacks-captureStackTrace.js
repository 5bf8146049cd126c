// harm: captures a stack onto a built-in; expect: returns "contained"
for (const target of [Object.prototype, Array, tools, console]) { try { Error.captureStackTrace(target); return "written" } catch (error) { if (!(error instanceof TypeError)) throw error } }
return "contained";
