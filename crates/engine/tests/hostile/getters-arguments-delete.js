// harm: deletes what is still to be read; expect: returns "contained"
const args = { get a() { delete args.b; delete args.c; return 1 }, b: { deep: [1] }, c: "c".repeat(100) };
const got = await tools.x.get(args);
return got.a === 1 && got.b === undefined ? "contained" : got;
