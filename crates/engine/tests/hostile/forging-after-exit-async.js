// harm: goes on after exit by calling it inside an async function; expect: returns nothing
(async () => exit())();
tools.x.put({ after: "exit" });
