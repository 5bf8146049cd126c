// harm: makes errors inside prepareStackTrace for ever; expect: returns "contained"|threw|stopped stack
try { Error.prepareStackTrace = () => new Error("again").stack } catch {}
new Error("first").stack;
return "contained";
