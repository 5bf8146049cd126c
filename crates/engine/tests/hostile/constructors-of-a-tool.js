// harm: reaches Function through a tool; expect: returns "contained"
const made = [];
try { made.push(tools.x.get.constructor("return this")) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
