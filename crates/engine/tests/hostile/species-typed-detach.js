// harm: lets the buffer go between the measure and the copy; expect: returns "contained"
class A extends Uint8Array { static get [Symbol.species]() { return function (n) { one.buffer.transfer(); return new Uint8Array(n) } } }
const one = new A(64).fill(7);
try { one.slice(0) } catch {};
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
