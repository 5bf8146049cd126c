// harm: goes on after exit inside parallel; expect: returns nothing
await parallel([1, 2, 3], (n) => { if (n === 2) exit(); if (n === 3) return tools.x.put({ after: "exit" }) });
tools.x.put({ after: "exit" });
