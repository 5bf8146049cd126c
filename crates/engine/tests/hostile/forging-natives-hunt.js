// harm: walks everything that can be reached for a native function of the shim; expect: returns "contained"
const seen = new Set(), found = [];
const walk = (value, path, depth) => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value) || depth > 8) return;
  seen.add(value);
  for (const key of Reflect.ownKeys(value)) {
    const where = path + "." + String(key);
    if (/native|emitCall|hook|rf_|begin$|deliver/.test(where) && !/native code/.test(where)) found.push(where);
    let d; try { d = Object.getOwnPropertyDescriptor(value, key) } catch { continue }
    if (!d) continue;
    for (const part of [d.value, d.get, d.set]) walk(part, where, depth + 1);
  }
  walk(Object.getPrototypeOf(value), path + ".__proto__", depth + 1);
};
walk(globalThis, "globalThis", 0);
walk(tools.x.get, "tool", 0);
walk((async () => {}), "async", 0);
walk((async function* () {})(), "generator", 0);
const call = tools.x.get({}); walk(call, "call", 0); await call;
return found.length === 0 && seen.size > 300 ? "contained" : found;
