// harm: catches the handlers of the tools object by replacing Proxy before it is made; expect: returns "contained"
const caught = [];
const before = globalThis.Proxy;
globalThis.Proxy = function (target, handler) { caught.push(handler); return new before(target, handler) };
const names = Object.keys(tools["my-src"]);
globalThis.Proxy = before;
const powers = caught.flatMap((handler) => Object.values(handler)).filter((f) => { try { return typeof f(null, "emitCall") === "object" } catch { return false } });
return names.length === 1 && powers.length === 0 ? "contained" : "reached";
