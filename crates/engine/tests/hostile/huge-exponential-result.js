// harm: returns a value that is small in memory and endless as text; expect: stopped memory|stopped asked|stopped limit
let a = [1];
for (let i = 0; i < 60; i++) a = [a, a];
return a;
