// harm: logs such a value; expect: stopped memory|stopped asked|stopped limit
let a = [1];
for (let i = 0; i < 60; i++) a = [a, a, a, a, a];
console.log(a);
return "logged";
