// harm: freezes, seals and closes sleeping rows; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
Object.freeze(v[1]); Object.seal(v[2]); Object.preventExtensions(v[3]);
for (const change of [() => { v[1].id = 5 }, () => { v[1].more = 5 }, () => { delete v[2].id }, () => { v[3].more = 1 }]) { try { change(); return "changed" } catch (error) { if (!(error instanceof TypeError)) throw error } }
v[2].id = 2; v[3].id = 3;
if (!Object.isFrozen(v[1]) || !Object.isSealed(v[2]) || Object.isExtensible(v[3])) return "wrong";
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
