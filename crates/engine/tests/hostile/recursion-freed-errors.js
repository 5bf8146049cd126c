// harm: frees a chain of causes at once; expect: returns "contained"
let e = new Error("x");
for (let i = 0; i < 1e5; i++) e = new Error("y", { cause: e });
e = null;
return "contained";
