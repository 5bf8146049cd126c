// harm: rejects again whenever its rejection is noted; expect: returns 1|stopped asked|stopped limit
const again = () => ({ toJSON() { Promise.reject(again()); return "x" } });
Promise.reject(again());
return 1;
