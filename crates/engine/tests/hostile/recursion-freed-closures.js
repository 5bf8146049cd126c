// harm: frees a chain of closures at once; expect: returns "contained"
let f = () => 1;
for (let i = 0; i < 2e5; i++) { const before = f; f = () => before; }
f = null;
return "contained";
