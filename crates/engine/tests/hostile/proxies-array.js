// harm: is an array behind a proxy, which JSON writes as an array; expect: returns "contained"
const got = await tools.x.get({ list: new Proxy([1, 2], {}) });
return Array.isArray(got.list) ? "contained" : got;
