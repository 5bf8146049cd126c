// harm: throws an error with a stack of 4 MB; expect: threw Error
const error = new Error("x");
error.stack = "    at z (script:1:1)\n".repeat(2e5);
throw error;
