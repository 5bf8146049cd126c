// harm: calls Function through Reflect.apply; expect: returns "contained"
const made = [];
try { made.push(Reflect.apply((() => {}).constructor, null, ["return 1"])) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
