// harm: adds a key at each look; expect: returns "contained"
const args = { get a() { this["k" + Object.keys(this).length] = 1; return 1 } };
const got = await tools.x.get(args);
return Object.keys(got).length < 10 ? "contained" : "grew";
