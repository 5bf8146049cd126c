// harm: freezes through a hundred thousand proxies; expect: threw RangeError
let p = {};
for (let i = 0; i < 1e5; i++) p = new Proxy(p, {});
Object.freeze(p);
return "done";
