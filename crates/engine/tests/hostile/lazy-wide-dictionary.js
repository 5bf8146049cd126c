// harm: looks up fifty thousand keys in one object, which must not take the square of it; expect: returns "contained"
const many = {};
for (let i = 0; i < 50000; i++) many["id" + i] = i;
const got = await tools.x.get(many);
let sum = 0;
for (let i = 0; i < 50000; i++) sum += got["id" + i];
return sum === 1249975000 ? "contained" : sum;
