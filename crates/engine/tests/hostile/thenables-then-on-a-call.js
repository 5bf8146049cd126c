// harm: puts a then of its own on the promise of a call; expect: returns "contained"
const call = tools.x.get({ a: 1 });
call.then = (yes) => yes("forged");
const direct = await Promise.prototype.then.call(call, (x) => x);
return direct.a === 1 ? "contained" : direct;
