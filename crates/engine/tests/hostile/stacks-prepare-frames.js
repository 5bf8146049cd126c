// harm: gets the functions of the frames above it through prepareStackTrace; expect: returns "contained"
const caught = new Set();
try { Error.prepareStackTrace = (_, frames) => { for (const frame of frames ?? []) { const f = frame.getFunction?.(); if (typeof f === "function") caught.add(f.name) } return "" } } catch {}
try { await tools.x.get({ toJSON() { new Error("look").stack; return {} } }) } catch {}
const inner = [...caught].filter((name) => name === "encode" || name === "invoke" || name === "call");
return inner.length === 0 ? "contained" : inner;
