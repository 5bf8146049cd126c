// harm: has concat write into Array.prototype; expect: returns "contained"
class A extends Array { static get [Symbol.species]() { return function () { return Array.prototype } } }
try { A.from([1]).concat([2]) } catch {};
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
