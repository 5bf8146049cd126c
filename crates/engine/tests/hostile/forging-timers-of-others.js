// harm: clears timers by guessing their numbers; expect: returns "contained"
let rang = 0;
setTimeout(() => { rang++ }, 1);
for (const id of [0, -1, NaN, "1", {}, 2 ** 53, null, undefined]) clearTimeout(id);
await sleep(2);
await tools.x.get({});
return rang === 1 ? "contained" : rang;
