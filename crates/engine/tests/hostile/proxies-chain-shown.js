// harm: is shown and asked for its class behind a hundred thousand proxies; expect: returns "contained"
let p = {};
for (let i = 0; i < 1e5; i++) p = new Proxy(p, {});
console.log(p);
try { p instanceof Array } catch (error) { return error instanceof RangeError ? "contained" : error.name }
return "reached";
