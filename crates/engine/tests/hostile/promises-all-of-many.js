// harm: makes promises of promises for ever; expect: stopped asked|stopped memory|stopped limit
const many = []; for (;;) many.push(Promise.all(many.slice(-50)));
return "over";
