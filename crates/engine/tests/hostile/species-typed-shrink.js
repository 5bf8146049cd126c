// harm: shrinks the buffer between the measure and the copy; expect: returns "contained"
const buffer = new ArrayBuffer(4096, { maxByteLength: 4096 });
class A extends Uint8Array { static get [Symbol.species]() { return function (n) { buffer.resize(1); return new Uint8Array(n) } } }
try { const cut = new A(buffer).fill(7).slice(0); if (cut.some((x) => x !== 0 && x !== 7)) return "read past the end" } catch {};
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
