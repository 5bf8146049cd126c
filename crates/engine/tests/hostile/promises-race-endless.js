// harm: gives Promise.race an endless list; expect: stopped asked|stopped memory|stopped limit
await Promise.race({ *[Symbol.iterator]() { for (;;) yield new Promise(() => {}) } });
return "over";
