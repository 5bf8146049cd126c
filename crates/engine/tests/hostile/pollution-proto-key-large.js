// harm: gets a large result with a key named __proto__; expect: returns "contained"
const rows = []; for (let i = 0; i < 100; i++) rows.push(JSON.parse('{"__proto__":{"admin":true},"a":' + i + "}"));
const got = await tools.x.get({ rows });
const row = got.rows[7];
return ({}).admin === undefined && Object.hasOwn(row, "__proto__") && Object.getPrototypeOf(row) === Object.prototype ? "contained" : "polluted";
