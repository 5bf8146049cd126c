// harm: says empty texts, which cost the host more than their bytes; expect: returns "contained"
for (let i = 0; i < 3e5; i++) text("");
return "contained";
