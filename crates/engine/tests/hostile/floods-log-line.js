// harm: logs one line of 8 MB; expect: returns "contained"
console.log("x".repeat(8 << 20));
return "contained";
