// harm: reaches Function by walking prototypes; expect: returns "contained"
const made = [];
try { made.push(Object.getPrototypeOf(Object.getPrototypeOf(async () => {})).constructor("return 1")) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
