// harm: gives split a pattern of its own; expect: returns "contained"
class R extends RegExp { static get [Symbol.species]() { return function () { return { lastIndex: 0, exec() { return null }, flags: "" } } } }
"abc".split(new R("b"));
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
