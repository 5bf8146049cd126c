// harm: gives map a typed array that is too short; expect: returns "contained"
class A extends Uint8Array { static get [Symbol.species]() { return function (n) { return new Uint8Array(1) } } }
try { new A(64).fill(7).map((x) => x); return "wrote past the end" } catch {};
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
