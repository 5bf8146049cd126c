// harm: goes on after exit in a finally; expect: returns nothing
try { exit() } catch { tools.x.put({ after: "exit" }) } finally { tools.x.put({ after: "exit" }) }
