// harm: lengthens the array that is being read, for ever; expect: returns "contained"
const rows = [];
rows.push({ get a() { rows.push(this); return 1 } });
const got = await tools.x.get({ rows });
return got.rows.length === 1 ? "contained" : got.rows.length;
