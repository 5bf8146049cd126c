// harm: returns a tool result that has a field named then; expect: returns "contained"
const got = await tools.x.get({ then: "text", a: 1 });
return got.then === "text" && got.a === 1 ? "contained" : got;
