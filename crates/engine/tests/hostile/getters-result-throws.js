// harm: throws while the result is read; expect: threw
return { get a() { throw new Error("mine") } };
