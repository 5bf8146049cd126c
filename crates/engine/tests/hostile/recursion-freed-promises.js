// harm: frees a chain of fifty thousand promises at once; expect: returns "contained"
let p = Promise.resolve(1);
for (let i = 0; i < 5e4; i++) { const before = p; p = (async () => before)(); }
p = null;
return "contained";
