// harm: returns objects as stacks; expect: returns "contained"
try { Error.prepareStackTrace = () => ({ toString() { throw 1 } }) } catch {}
console.log(new Error("shown"));
return "contained";
