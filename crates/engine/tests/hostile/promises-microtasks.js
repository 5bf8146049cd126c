// harm: awaits for ever; expect: stopped asked|stopped memory|stopped limit
for (;;) await null;
return "over";
