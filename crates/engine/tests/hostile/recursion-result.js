// harm: returns a value nested half a million deep; expect: threw TypeError
let a = {};
for (let i = 0; i < 5e5; i++) a = { a };
return a;
