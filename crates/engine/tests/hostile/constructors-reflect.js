// harm: constructs Function with another new.target; expect: returns "contained"
const made = [];
try { made.push(Reflect.construct((() => {}).constructor, ["return 1"], Object)) } catch (error) { if (!(error instanceof Error)) throw error }
return made.length === 0 ? "contained" : typeof made[0];
