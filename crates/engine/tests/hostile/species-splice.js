// harm: has splice write into the global object; expect: returns "contained"
class A extends Array { static get [Symbol.species]() { return function () { return globalThis } } }
A.from([1, 2, 3]).splice(0, 2);
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
