// harm: deletes rows and fields while they are listed; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
delete v[12].name;
if ("name" in v[12] || v[12].name !== undefined) return "still there";
for (const key in v[10]) { delete v[10][key] }
for (const row of v) { if (row.id === 20) { v.splice(30, 10) } }
for (const key of Object.keys(v[11])) { delete v[11].tags; v[11][key] = 1 }
v[11].tags = 1;
if (Object.keys(v[10]).length !== 0 || v.length !== 50 || v[11].tags !== 1) return "wrong";
return "contained";
