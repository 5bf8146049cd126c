// harm: logs wide characters and halves of them; expect: returns "contained"
for (let i = 0; i < 2000; i++) console.log("\ud83d\ude00".repeat(1000) + "\ud800");
return "contained";
