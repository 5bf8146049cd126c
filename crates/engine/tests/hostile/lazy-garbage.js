// harm: drops rows in the middle of reading them, under pressure; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
const keep = [];
for (let i = 0; i < 60; i++) { keep.push(v[i].at); v[i] = null; for (let j = 0; j < 200; j++) ({ a: new Array(50).fill(j) }); }
if (keep[59].x !== 29.5 || keep[0].y !== null) return "wrong";
for (let round = 0; round < 20; round++) { let got = await tools.x.get(rows); const one = got[round].tags; got = null; for (let j = 0; j < 2000; j++) [j, { j }]; if (one[1] !== round) return "wrong" }
return "contained";
