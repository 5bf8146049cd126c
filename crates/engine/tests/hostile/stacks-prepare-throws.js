// harm: throws from prepareStackTrace whenever the prelude makes an error; expect: returns "contained"
try { Error.prepareStackTrace = () => { throw new Error("mine") } } catch {}
try { await tools.x.get(1n) } catch (error) { return error.code === "invalid_arguments" ? "contained" : error.message }
