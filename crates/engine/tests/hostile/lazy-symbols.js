// harm: puts symbols and tags on sleeping rows; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
if (v[23][Symbol.iterator] !== undefined || v[23][Symbol.toPrimitive] !== undefined || String(v[23]) !== "[object Object]") return "wrong";
v[24][Symbol.toStringTag] = "Row"; v[25][Symbol.for("a")] = 1;
if (String(v[24]) !== "[object Row]" || v[25].id !== 25) return "wrong";
v[26].toString = () => "own";
if (`${v[26]}` !== "own") return "wrong";
delete v[26].toString;
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
