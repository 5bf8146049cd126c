// harm: ends the script while its result is read; expect: returns nothing|threw InternalError
return { get a() { exit() } };
