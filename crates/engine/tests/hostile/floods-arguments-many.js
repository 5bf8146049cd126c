// harm: sends many large arguments at once; expect: stopped limit
const s = "a".repeat(1 << 20);
for (let i = 0; i < 500; i++) tools.x.get({ s });
return "sent";
