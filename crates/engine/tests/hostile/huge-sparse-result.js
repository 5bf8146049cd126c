// harm: returns an array of half a thousand million holes; expect: stopped memory|stopped asked|stopped limit|threw
const a = [];
a.length = 5e8;
return a;
