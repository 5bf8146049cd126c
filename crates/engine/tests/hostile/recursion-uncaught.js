// harm: never catches its recursion; expect: threw RangeError
const f = (n) => f(n + 1) + 1;
f(0);
