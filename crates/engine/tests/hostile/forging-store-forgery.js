// harm: stores under keys and values that would break the message to the host; expect: returns "contained"
store('k","json":"1"}', "a");
store("\u0000", "b");
store("\ud800", "c");
store("__proto__", { admin: true });
return ({}).admin === undefined && load('k","json":"1"}') === "a" && load("__proto__").admin ? "contained" : "broken";
