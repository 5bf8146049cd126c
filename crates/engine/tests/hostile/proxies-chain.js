// harm: reads through a hundred thousand proxies; expect: returns "contained"
let p = {};
for (let i = 0; i < 1e5; i++) p = new Proxy(p, {});
try { p.a } catch (error) { return error instanceof RangeError ? "contained" : error.name }
return "reached";
