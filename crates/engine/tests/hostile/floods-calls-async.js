// harm: makes calls without end from jobs; expect: stopped limit:calls
const go = async () => { tools.x.get({}); await null; return go() };
await go();
