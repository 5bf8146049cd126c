// harm: calls a tool with a name of many megabytes; expect: stopped limit:argument_bytes
tools.x["n".repeat(9 << 20)]({});
return "sent";
