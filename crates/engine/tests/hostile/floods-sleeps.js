// harm: sleeps without end; expect: stopped limit:calls
for (;;) sleep(1e9);
