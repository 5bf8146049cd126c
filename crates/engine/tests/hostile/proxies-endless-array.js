// harm: is an array of endless length; expect: threw
return new Proxy([], { get: (_, key) => key === "length" ? 2 ** 53 - 1 : key === "toJSON" ? undefined : 1 });
