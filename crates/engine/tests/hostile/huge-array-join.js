// harm: joins a thousand million holes, and catches; expect: stopped memory|stopped asked|stopped limit
try { new Array(2 ** 30).join("abcdefgh") } catch {}
return "caught";
