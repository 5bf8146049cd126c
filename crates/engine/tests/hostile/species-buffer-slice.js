// harm: gives slice a buffer that is too short; expect: returns "contained"
class B extends ArrayBuffer { static get [Symbol.species]() { return function (n) { return new ArrayBuffer(1) } } }
try { new B(64).slice(0, 32) } catch {};
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
