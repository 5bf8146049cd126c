// harm: gives every object a then; expect: returns "contained"
try { Object.prototype.then = (yes) => yes("stolen") } catch (error) { if (!(error instanceof TypeError)) throw error }
const got = await tools.x.get({ a: 1 });
return got.a === 1 ? "contained" : "stolen";
