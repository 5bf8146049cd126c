// harm: calls Function through a proxy; expect: returns "contained"
const made = [];
try { made.push(new Proxy((() => {}).constructor, {})("return 1")) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
