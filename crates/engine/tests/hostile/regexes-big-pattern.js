// harm: compiles a pattern of 4 MB again and again; expect: stopped memory|stopped asked|stopped limit|returns "done"
const p = "[a-z0-9]{1,9}".repeat(3e5);
try { for (;;) new RegExp(p, "iu") } catch {}
return "done";
