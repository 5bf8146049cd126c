// harm: looks for paths and addresses of the host in every stack it can get; expect: returns "contained"
const all = [];
const keep = (go) => { try { go() } catch (error) { all.push(String(error.stack), String(error.message)) } };
for (const go of [() => null.x, () => JSON.parse("{"), () => new Array(-1), () => tools.x.get(1n), () => decodeURIComponent("%"), () => new RegExp("("), () => Symbol() + "", () => { "use strict"; undefined_name }]) keep(go);
try { await tools.x.get(1n) } catch (error) { all.push(error.stack, error.message) }
const bad = all.filter((line) => /\/(home|usr|tmp|root|work)\/|0x[0-9a-f]{6}|\.rs|wasm|\.c:/.test(line));
return bad.length === 0 ? "contained" : bad;
