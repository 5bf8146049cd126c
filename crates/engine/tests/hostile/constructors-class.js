// harm: reaches Function through a class; expect: returns "contained"
const made = [];
try { made.push((class {}).constructor("return 1")) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
