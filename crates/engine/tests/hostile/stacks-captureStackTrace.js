// harm: captures a stack onto a built-in; expect: returns "contained"
for (const target of [Object.prototype, Array, Function.prototype, tools, console]) { try { Error.captureStackTrace(target) } catch (error) { if (!(error instanceof TypeError)) throw error }
  if (Object.hasOwn(target, "stack")) return "written" }
return "contained";
