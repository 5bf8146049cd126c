// harm: reads one text of a sleeping row very often; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
let n = 0;
for (let i = 0; i < 1e4; i++) n += v[21].name.length + v[22].id;
if (n !== 1e4 * 28) return "wrong";
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
