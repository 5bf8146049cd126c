// harm: puts toJSON on sleeping rows; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
v[27].toJSON = () => ({ id: 27, name: "row 27", tags: ["a", 27], at: { x: 13.5, y: null } });
Object.setPrototypeOf(v[28], { toJSON() { return { ...this } } });
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
