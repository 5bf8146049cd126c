// harm: tells progress a hundred thousand times; expect: returns "contained"
for (let i = 0; i < 1e5; i++) progress(i / 1e5, "step " + i);
return "contained";
