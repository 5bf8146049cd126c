// harm: reaches Function through a getter; expect: returns "contained"
const made = [];
try { made.push(Object.getOwnPropertyDescriptor({ get a() { return 1 } }, "a").get.constructor("return 1")) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
