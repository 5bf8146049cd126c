// harm: gives a sleeping row another prototype; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
Object.setPrototypeOf(v[3], { get extra() { return this.id * 2 }, id: "shadow" });
Object.setPrototypeOf(v[4], null);
Object.setPrototypeOf(v[5], v[6]);
if (v[3].extra !== 6 || v[3].id !== 3 || "toString" in v[4] || v[5].id !== 5) return "wrong";
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
