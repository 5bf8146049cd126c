// harm: makes code from text through the constructor of an async function; expect: returns "contained"
const made = [];
try { made.push((async () => {}).constructor("return 1")) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
