// harm: closes the wrapper around the script and goes on outside it; expect: refused
return 1 })(); globalThis.out = 1; (async () => {
