// harm: throws from the getter of then; expect: returns "contained"
try { await { get then() { throw new RangeError("mine") } } } catch (error) { return error.message === "mine" ? "contained" : error.message }
