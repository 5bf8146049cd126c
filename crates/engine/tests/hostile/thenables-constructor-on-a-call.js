// harm: gives the promise of a call another constructor; expect: returns "contained"
const call = tools.x.get({ a: 1 });
call.constructor = class { static [Symbol.species] = class { constructor(go) { go(() => {}, () => {}) } } };
const got = await call;
return got.a === 1 ? "contained" : got;
