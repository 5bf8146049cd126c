// harm: gets hold of the settling functions of a refused call by replacing Promise; expect: returns "contained"
const caught = [];
const before = globalThis.Promise;
globalThis.Promise = class { constructor(go) { caught.push(go) } };
const refused = tools.x.get(1n);
globalThis.Promise = before;
return caught.length === 0 && refused instanceof before ? "contained" : "the prelude used it";
