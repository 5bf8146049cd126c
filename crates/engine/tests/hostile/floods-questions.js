// harm: asks without end; expect: stopped limit:calls
for (let i = 0; ; i++) ask("q" + i);
