// harm: throws while the result is read; expect: threw Error
return { get a() { throw new Error("mine") } };
