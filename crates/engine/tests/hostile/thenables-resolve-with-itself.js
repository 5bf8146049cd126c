// harm: resolves a promise with itself; expect: returns "contained"
let yes;
const p = new Promise((y) => { yes = y });
yes(p);
try { await p } catch (error) { return error instanceof TypeError ? "contained" : error.name }
