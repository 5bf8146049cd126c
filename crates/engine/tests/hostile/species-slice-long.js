// harm: gives slice an array that has been emptied; expect: returns "contained"
class A extends Array { static get [Symbol.species]() { return function (n) { const a = [1, 2, 3]; a.length = 0; return a } } }
A.from([1, 2, 3]).slice(0);
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
