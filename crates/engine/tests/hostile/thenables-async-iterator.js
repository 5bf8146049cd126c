// harm: gives an async iterator whose result objects are thenables; expect: returns "contained"
const it = { [Symbol.asyncIterator]() { let n = 0; return { next() { n++; return { then(yes) { yes({ done: n > 3, value: n }) } } }, return() { return {} } } } };
const seen = [];
for await (const x of it) seen.push(x);
return JSON.stringify(seen) === "[1,2,3]" ? "contained" : seen;
