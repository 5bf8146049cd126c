// harm: throws while the arguments are read; expect: returns "contained"
try { await tools.x.get({ get a() { throw new Error("mine") } }) } catch (error) { return error.code === "invalid_arguments" && error.message.includes("mine") ? "contained" : error.message }
return "sent";
