// harm: stores twenty thousand values; expect: returns "contained"
for (let i = 0; i < 2e4; i++) store("k" + i, { i });
return "contained";
