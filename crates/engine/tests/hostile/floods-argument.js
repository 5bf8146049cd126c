// harm: sends one huge argument; expect: stopped limit:argument_bytes
tools.x.get({ a: "a".repeat(9 << 20) });
return "sent";
