// harm: has then return the tools object; expect: returns "contained"
class P extends Promise { static get [Symbol.species]() { return function (go) { go(() => {}, () => {}); return tools } } }
new P((r) => r(1)).then(() => {});
await tools.x.get({});
return Array.prototype.length === 0 && typeof tools.x.get === "function" ? "contained" : "changed";
