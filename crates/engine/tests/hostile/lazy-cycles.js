// harm: builds cycles through sleeping rows and drops them; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
for (let round = 0; round < 30; round++) { const got = await tools.x.get(rows); got[0].self = got; got[1].other = got[0]; const w = new WeakMap([[got[2], got]]); got.push(w); }
const m = new Map(v.map((row) => [row, row]));
if (m.get(v[5]) !== v[5]) return "wrong";
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
