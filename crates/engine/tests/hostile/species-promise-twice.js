// harm: gives then a capability twice; expect: returns "contained"
let caught;
class P extends Promise { static get [Symbol.species]() { return function (go) { go((x) => { caught = x }, () => {}); try { go(() => {}, () => {}) } catch {} return {} } } }
new P((r) => r(1)).then((x) => x);
await null;
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
