// harm: sends an argument of a hundred thousand keys; expect: stopped limit:argument_bytes
const a = {};
for (let i = 0; i < 1e5; i++) a["a rather long key number " + i + " of very many"] = i;
tools.x.get(a);
return "sent";
