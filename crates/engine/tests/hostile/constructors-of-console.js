// harm: reaches Function through a global of the prelude; expect: returns "contained"
const made = [];
try { made.push(console.log.constructor("return this")) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
