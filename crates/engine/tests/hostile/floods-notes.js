// harm: has twenty thousand notes written; expect: returns "contained"
for (let i = 0; i < 2e4; i++) store("k", [undefined, () => 1, NaN]);
return "contained";
