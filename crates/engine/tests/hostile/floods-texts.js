// harm: says a hundred thousand texts; expect: returns "contained"
for (let i = 0; i < 1e5; i++) text("text " + i);
return "contained";
