// harm: answers toJSON with another value each time; expect: returns "contained"
let n = 0;
const value = { toJSON() { return n++ } };
const got = await tools.x.get({ value, again: value });
return got.value === 0 && got.again === 1 ? "contained" : got;
