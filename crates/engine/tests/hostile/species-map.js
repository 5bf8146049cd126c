// harm: has map write into the tools object; expect: returns "contained"
class A extends Array { static get [Symbol.species]() { return function () { return tools } } }
try { A.from([1]).map((x) => x) } catch {};
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
