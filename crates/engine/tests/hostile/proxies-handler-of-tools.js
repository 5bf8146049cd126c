// harm: catches the handlers of the tools object by replacing Proxy before it is made; expect: returns "contained"
const caught = [];
const before = globalThis.Proxy;
globalThis.Proxy = function (target, handler) { caught.push(handler); return new before(target, handler) };
const names = Object.keys(tools["my-src"]);
globalThis.Proxy = before;
return names.length === 1 && caught.length === 0 ? "contained" : "reached";
