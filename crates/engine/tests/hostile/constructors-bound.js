// harm: reaches Function through a bound function; expect: returns "contained"
const made = [];
try { made.push((() => {}).bind().constructor("return 1")) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
