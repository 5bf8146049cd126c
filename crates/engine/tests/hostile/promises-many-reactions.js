// harm: hangs a hundred thousand reactions on one call; expect: returns "contained"
const call = tools.x.get({ n: 1 });
let sum = 0;
for (let i = 0; i < 1e5; i++) call.then((got) => { sum += got.n });
await call;
await null;
return sum === 1e5 ? "contained" : sum;
