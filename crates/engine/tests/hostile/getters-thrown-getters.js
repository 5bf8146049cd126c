// harm: throws an error whose every field throws; expect: returns "contained"
const error = new Error("x");
for (const key of ["name", "message", "stack"]) Object.defineProperty(error, key, { get() { throw error } });
try { console.log(error); text(error) } catch { return "leaked" }
return "contained";
