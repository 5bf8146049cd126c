// harm: copies sleeping rows in every way; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
const ways = [{ ...v[1] }, Object.assign({}, v[1]), Object.fromEntries(Object.entries(v[1])), JSON.parse(JSON.stringify(v[1])), (({ id, ...rest }) => ({ id, ...rest }))(v[1]), Object.create(null, Object.getOwnPropertyDescriptors(v[1]))];
for (const copy of ways) { if (JSON.stringify(copy) !== JSON.stringify(plain[1])) return "wrong"; copy.id = 5 }
const flat = [].concat(v, [v]).flat();
if (flat[61].id !== 1 || v.slice(2)[0] !== v[2]) return "wrong";
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
