// harm: has the list of rejections moved while it is being read, and writes over where it was; expect: returns 1
const keep = [];
const grow = { toJSON() { for (let i = 0; i < 40; i++) { Promise.reject(1); for (let n = 80; n < 100; n++) { const over = new Uint32Array(n); for (let j = 0; j < n; j++) over[j] = j % 2 ? 0xfffffff9 : 0x7ffffff0; keep.push(over); } } return "x" } };
for (let i = 0; i < 15; i++) Promise.reject(grow);
Promise.reject(new Error("last"));
return 1;
