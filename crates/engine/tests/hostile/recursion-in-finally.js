// harm: recurses again whenever it is caught; expect: threw RangeError|stopped asked|stopped limit|stopped stack
const f = () => { try { f() } finally { f() } };
f();
