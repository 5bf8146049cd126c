// harm: lays accessors over fields of sleeping rows; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
let seen = 0;
Object.defineProperty(v[8], "id", { get() { seen++; return 8 }, set(x) { seen += x }, enumerable: true, configurable: true });
v[8].id = 10;
if (v[8].id !== 8 || seen !== 11) return "wrong";
Object.defineProperty(v[9], "name", { value: "row 9", writable: false });
try { v[9].name = "x"; return "written" } catch {}
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
