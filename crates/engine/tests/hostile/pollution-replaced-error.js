// harm: makes the prelude believe that everything is an error; expect: returns "contained"
const asked = [];
const before = globalThis.Error;
globalThis.Error = { [Symbol.hasInstance](x) { asked.push(x); return true } };
console.log({ a: 1 });
globalThis.Error = before;
return asked.length === 0 ? "contained" : "the prelude asked it";
