// harm: goes on after exit when an iterator is closed; expect: returns nothing
for (const x of { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }), return() { tools.x.put({ after: "exit" }); return {} } }) }) exit();
