// harm: forges frames with a name that has lines; expect: threw Error
const f = () => { throw new Error("x") };
Object.defineProperty(f, "name", { value: "a (script:1:1)\n    at /etc/passwd (/srv/host.rs:1:1)\n    at b" });
f();
