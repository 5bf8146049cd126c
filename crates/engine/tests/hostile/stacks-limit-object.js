// harm: sets the limit to an object that throws; expect: returns "contained"
try { Error.stackTraceLimit = { valueOf() { throw 1 } } } catch {}
try { null.x } catch (error) { return error instanceof TypeError ? "contained" : error }
