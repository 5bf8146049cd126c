// harm: inherits from sleeping rows; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
const child = Object.create(v[3]);
child.id = 99;
if (child.name !== "row 3" || v[3].id !== 3 || Object.keys(child).join() !== "id") return "wrong";
class A { constructor() { return v[7] } } class B extends A { #secret = 1; static read(o) { return o.#secret } }
new B();
if (B.read(v[7]) !== 1 || v[7].id !== 7) return "wrong";
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
