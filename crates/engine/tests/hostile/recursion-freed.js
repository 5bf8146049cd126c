// harm: frees a chain of half a million objects at once; expect: returns "contained"
let a = null;
for (let i = 0; i < 5e5; i++) a = { a };
a = null;
return "contained";
