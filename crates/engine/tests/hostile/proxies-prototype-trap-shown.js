// harm: runs a trap while a value is shown; expect: returns "contained"
let looked = 0;
const value = new Proxy({}, { getPrototypeOf() { looked++; throw new Error("trap") }, ownKeys() { throw new Error("trap") } });
console.log(value);
text(value);
return looked > 0 ? "contained" : "not asked";
