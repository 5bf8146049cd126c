// harm: makes code from text through eval, direct and not; expect: returns "contained"
const tries = [() => (0, eval)("1"), () => globalThis.eval("1"), () => setTimeout("1", 0)];
for (const go of tries) { try { go(); return "ran" } catch {} }
return "contained";
