// harm: shortens the array from its own comparator; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
let n = 0;
v.sort((a, b) => { if (n++ === 20) v.length = 0; return b.id - a.id });
v.reverse();
v.length = 0;
v.push(...plain);
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
