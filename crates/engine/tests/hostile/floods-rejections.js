// harm: leaves five thousand rejections; expect: returns "contained"
for (let i = 0; i < 5000; i++) Promise.reject(new Error("r" + i));
return "contained";
