// harm: gets the hooks of the shim through an error made while a rejection is shown; expect: returns "contained"
const caught = new Set();
try { Error.prepareStackTrace = (_, frames) => { for (const frame of frames ?? []) { const f = frame.getFunction?.(); if (typeof f === "function") caught.add(f) } return "" } } catch {}
console.log({ get a() { new Error("look").stack; return 1 } });
const foreign = [...caught].filter((f) => ["show", "showAll", "encode"].includes(f.name));
return foreign.length === 0 ? "contained" : foreign.map((f) => f.name);
