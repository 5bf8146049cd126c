// harm: gets rows with keys that look like numbers, twice the same, or are empty; expect: returns "contained"
const rows = [];
for (let i = 0; i < 60; i++) rows.push({ id: i, name: "row " + i, tags: ["a", i], at: { x: i / 2, y: null } });
const plain = JSON.parse(JSON.stringify(rows));
const v = await tools.x.get(rows);
const odd = await tools.x.get({ json: '[' + '{"2":"b","1":"a","":0,"-1":1,"01":2,"4294967295":3,"__proto__":4,"a b":5,"01":6},'.repeat(40) + '1]' });
if (Object.keys(odd[3]).join("|") !== "1|2||-1|01|4294967295|__proto__|a b") return Object.keys(odd[3]);
if (odd[3][1] !== "a" || odd[3][""] !== 0 || odd[4].__proto__ !== 4 || odd[4]["01"] !== 6 || Object.getPrototypeOf(odd[4]) !== Object.prototype) return "wrong";
return JSON.stringify(v) === JSON.stringify(plain) ? "contained" : "changed";
