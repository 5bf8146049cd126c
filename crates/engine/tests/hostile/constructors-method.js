// harm: reaches Function through a method; expect: returns "contained"
const made = [];
try { made.push(({ m() {} }).m.constructor("return 1")) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
