// harm: uses the answers of calls after they are over; expect: returns "contained"
const call = tools.x.get({ a: 1 });
const first = await call, second = await call;
first.a = 2;
return second.a === 2 && (await tools.x.get({ a: 3 })).a === 3 ? "contained" : "mixed";
