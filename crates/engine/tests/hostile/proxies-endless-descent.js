// harm: gives a new level at every look; expect: threw TypeError
const deeper = () => new Proxy({}, { ownKeys: () => ["a"], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: (_, key) => key === "a" ? deeper() : undefined });
return deeper();
