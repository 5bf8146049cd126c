// harm: looks at sleeping rows through proxies and Reflect; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
const p = new Proxy(v[12], {});
if (p.id !== 12 || Object.keys(p).join() !== "id,name,tags,at" || !("at" in p)) return "wrong";
if (Reflect.get(v[13], "name", { x: 1 }) !== "row 13" || Reflect.ownKeys(v[14]).length !== 4) return "wrong";
Reflect.set({}, "id", 77, v[15]);
if (v[15].id !== 77) return "wrong";
v[15].id = 15;
Reflect.set(v[16], "id", 78, v[17]);
if (v[17].id !== 78 || v[16].id !== 16) return "wrong";
v[17].id = 17;
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
