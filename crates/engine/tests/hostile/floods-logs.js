// harm: logs a hundred thousand lines; expect: returns "contained"
for (let i = 0; i < 1e5; i++) console.log("line " + i);
return "contained";
