// harm: sends and gets objects with a key named __proto__; expect: returns "contained"
const got = await tools.x.get(JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}'));
return ({}).admin === undefined && Object.hasOwn(got, "__proto__") && got.__proto__.admin === true && Object.getPrototypeOf(got) === Object.prototype ? "contained" : "polluted";
