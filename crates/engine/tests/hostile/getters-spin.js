// harm: never comes back from a getter of its result; expect: stopped asked
return { get a() { for (;;) {} } };
