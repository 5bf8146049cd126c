// harm: settles one promise many times; expect: returns "contained"
const seen = [];
await new Promise((yes, no) => { yes({ then(y, n) { y(1); y(2); n(3); throw 4 } }); no(5); yes(6) }).then((x) => seen.push(x), (x) => seen.push("no", x));
return JSON.stringify(seen) === "[1]" ? "contained" : seen;
