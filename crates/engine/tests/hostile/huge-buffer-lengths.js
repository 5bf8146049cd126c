// harm: asks for buffers of every impossible length; expect: returns "contained"
const made = [];
for (const n of [2 ** 32, 2 ** 33, 2 ** 53 - 1, 2 ** 53, Infinity, -1, NaN]) { try { made.push(new ArrayBuffer(n).byteLength) } catch (error) { if (!(error instanceof RangeError)) throw error } }
return made.every((n) => n === 0) ? "contained" : made;
