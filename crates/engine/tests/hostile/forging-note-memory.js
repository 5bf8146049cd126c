// harm: has the list of rejections moved while it is being read; expect: returns 1|stopped asked|stopped limit
const grow = { toJSON() { const all = []; for (let i = 0; i < 40; i++) { Promise.reject(1); all.push(new Float64Array(48).fill(NaN)) } return "x" } };
for (let i = 0; i < 16; i++) Promise.reject(grow);
return 1;
