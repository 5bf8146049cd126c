// harm: calls the encoder of the engine directly with a function got through prepareStackTrace; expect: returns "contained"
const caught = new Map();
try { Error.prepareStackTrace = (_, frames) => { for (const frame of frames ?? []) { const f = frame.getFunction?.(); if (typeof f === "function") caught.set(f.name, f) } return "" } } catch {}
console.log({ toJSON() { new Error("look").stack; return {} } });
return caught.has("encode") ? typeof caught.get("encode")({}, 0, "x") : "contained";
