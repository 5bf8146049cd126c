// harm: settles the promise of a call itself; expect: returns "contained"
const call = tools.x.get({ a: "real" });
for (const name of ["resolve", "reject", "_resolve", "then"]) { try { call[name]?.("forged") } catch {} }
Object.setPrototypeOf(call, { then(yes) { yes("forged") } });
const got = await Promise.prototype.then.call(call, (x) => x);
return got.a === "real" ? "contained" : got;
