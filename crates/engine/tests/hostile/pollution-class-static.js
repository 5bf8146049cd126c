// harm: changes built-ins from a static block, with private names and a super call; expect: returns "contained"
const changed = [];
class A extends Array { static { try { super.from = 1; changed.push("from", Array.from) } catch {} } static set from(x) { changed.push("own") } }
class Back { constructor(o) { return o } }
class P extends Back { #p = 1; static has(o) { return #p in o } }
try { new P(Array.prototype); changed.push("private on a built-in") } catch {}
return typeof Array.from === "function" ? "contained" : changed;
