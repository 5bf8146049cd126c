// harm: makes code from text through the constructor of an async generator; expect: returns "contained"
const made = [];
try { made.push((async function* () {}).constructor("yield 1")) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
