// harm: goes on after exit by calling it inside a promise; expect: returns nothing
new Promise(() => exit());
tools.x.put({ after: "exit" });
