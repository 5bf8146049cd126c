// harm: makes calls without end, and catches; expect: stopped limit:calls
try { for (;;) tools.x.get({}) } catch {}
return "caught";
