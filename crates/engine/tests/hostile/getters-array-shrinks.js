// harm: shortens the array that is being read; expect: returns "contained"
const rows = [{ get a() { rows.length = 0; return 1 } }, 2, 3];
const got = await tools.x.get({ rows });
return JSON.stringify(got) === '{"rows":[{"a":1},null,null]}' ? "contained" : got;
