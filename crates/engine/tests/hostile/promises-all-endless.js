// harm: gives Promise.all an endless list; expect: stopped asked|stopped memory|stopped limit
await Promise.all({ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) });
return "over";
