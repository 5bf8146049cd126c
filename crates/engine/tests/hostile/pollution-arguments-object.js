// harm: changes the caller through its arguments; expect: returns "contained"
const f = function () { arguments[0] = 2; try { return arguments.callee } catch { return arguments.length } };
const g = function (a) { arguments[0] = 2; return a };
let caller = "none";
try { caller = f.caller } catch {}
return f(1) === 1 && g(1) === 1 && (caller === "none" || caller === null || caller === undefined) ? "contained" : "reached";
