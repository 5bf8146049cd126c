// harm: makes a call of the engine itself, under a name of its choice, with a function got through prepareStackTrace; expect: returns "contained"
const caught = new Map();
try { Error.prepareStackTrace = (_, frames) => { for (const frame of frames ?? []) { const f = frame.getFunction?.(); if (typeof f === "function") caught.set(f.name, f) } return "" } } catch {}
try { await tools.x.get({ toJSON() { new Error("look").stack; return {} } }) } catch {}
if (!caught.has("invoke")) return "contained";
const forged = caught.get("invoke")("", "forged", { a: 1 });
return "sent";
