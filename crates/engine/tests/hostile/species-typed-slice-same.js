// harm: has slice copy onto itself; expect: returns "contained"
let shared;
class A extends Uint8Array { static get [Symbol.species]() { return function (n) { return new Uint8Array(shared.buffer, 1, n) } } }
shared = new A(64).fill(7);
shared.slice(0, 60);
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
