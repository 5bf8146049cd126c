// harm: throws a value nested half a million deep; expect: threw
let a = {};
for (let i = 0; i < 5e5; i++) a = { a };
throw a;
