// harm: moves lastIndex while a pattern is replaced; expect: returns "contained"
const r = /a/g;
let n = 0;
const got = "aaaa".replace(r, () => { r.lastIndex = 0; return ++n > 100 ? "x" : "b" });
const e = /a/g;
e.lastIndex = { valueOf() { e.compile?.("b"); return 0 } };
e.test("a");
return got === "bbbb" ? "contained" : got;
