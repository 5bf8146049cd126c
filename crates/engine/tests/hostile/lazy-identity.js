// harm: expects the same object at each look; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
if (v[1] !== v[1] || v[1].tags !== v[1].tags || v[1].at !== v[1].at) return "wrong";
v[1].tags.push("b"); v[1].at.z = 1;
if (v[1].tags.length !== 3 || v[1].at.z !== 1) return "wrong";
v[1].tags.pop(); delete v[1].at.z;
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
