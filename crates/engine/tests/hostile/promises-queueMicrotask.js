// harm: queues jobs for ever; expect: stopped asked|stopped memory|stopped limit
await new Promise(() => { const go = () => queueMicrotask(go); go() });
return "over";
