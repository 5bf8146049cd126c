// harm: sets timers without end; expect: stopped limit:calls
for (;;) setTimeout(() => {}, 1);
