// harm: returns a thenable that never settles; expect: stalled
return { then() {} };
