// harm: has filter write into a frozen array; expect: returns "contained"
class A extends Array { static get [Symbol.species]() { return function () { return Object.freeze([]) } } }
try { A.from([1, 2]).filter(() => true) } catch {};
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
