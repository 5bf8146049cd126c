// harm: changes the number of a failed call; expect: returns "contained"
try { await tools.x.get(1n) } catch (error) { error.call = 77; error.code = "forged"; if (error.code !== "forged") return "cannot" }
const next = await tools.x.get({ n: 1 });
return next.n === 1 ? "contained" : next;
