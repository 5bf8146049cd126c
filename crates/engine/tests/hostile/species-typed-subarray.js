// harm: gives subarray a view of another kind; expect: returns "contained"
class A extends Uint8Array { static get [Symbol.species]() { return function (buffer, at, n) { return new Float64Array(1) } } }
try { new A(64).subarray(1, 63) } catch {};
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
