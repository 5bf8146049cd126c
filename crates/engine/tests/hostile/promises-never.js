// harm: waits for nothing; expect: stalled
await new Promise(() => {});
