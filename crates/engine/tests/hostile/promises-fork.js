// harm: doubles its jobs at each turn; expect: stopped asked|stopped memory|stopped limit
const go = async () => { await null; go(); go() }; await go(); await new Promise((yes) => { const spin = () => queueMicrotask(spin); spin() });
return "over";
