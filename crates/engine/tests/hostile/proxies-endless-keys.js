// harm: gives keys that never end; expect: stopped asked|stopped memory|stopped limit
return new Proxy({}, { ownKeys() { const keys = []; for (let i = 0; ; i++) keys.push("k" + i); } });
