// harm: frees a text that was put together from the front; expect: returns "contained"
let s = "";
for (let i = 0; i < 2e5; i++) s = "abcdefgh".repeat(70) .slice(i % 7) .slice(0, 9) + s;
const n = s.length;
s = null;
return n > 1 ? "contained" : n;
