// harm: dies with an error whose every field throws; expect: threw
const error = new Error("x");
for (const key of ["name", "message", "stack"]) Object.defineProperty(error, key, { get() { throw error } });
throw error;
