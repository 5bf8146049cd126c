// harm: clears the map that is being read; expect: returns "contained"
const map = new Map([["a", { get x() { map.clear(); map.set("z", 1); return 1 } }], ["b", 2]]);
const got = await tools.x.get({ map });
return JSON.stringify(got) === '{"map":{"a":{"x":1},"b":2}}' ? "contained" : got;
