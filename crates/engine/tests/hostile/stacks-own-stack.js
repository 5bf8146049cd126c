// harm: throws an error with a stack of its own; expect: threw Error
const error = new Error("x");
error.stack = "    at host (script:99999999999999999999:1)\n    at x (script:-1:1)\n    at y (script:1:4294967296)\n" + "    at z (script:1:1)\n".repeat(2000);
throw error;
