// harm: has built-ins use an exec of its own that never ends a match; expect: returns "contained"
const r = /a/g;
let n = 0;
r.exec = () => (n++ < 1000 ? { index: 2 ** 31, 0: "", length: 1 } : null);
try { "abc".replace(r, "x") } catch {}
try { [..."abc".matchAll(r)] } catch {}
return n > 0 ? "contained" : n;
