// harm: ends the script while its result is read; expect: returns nothing
return { get a() { exit() } };
