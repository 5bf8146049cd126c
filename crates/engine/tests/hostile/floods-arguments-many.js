// harm: sends many large arguments at once, which the host has to keep; expect: stopped memory
const s = "a".repeat(1 << 20);
for (let i = 0; i < 500; i++) tools.x.get({ s });
return "sent";
