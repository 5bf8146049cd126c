// harm: changes a tool through a proxy around tools; expect: returns "contained"
const mine = new Proxy(tools, {});
for (const change of [() => { mine.x = 1 }, () => Object.defineProperty(mine, "x", { value: 1 }), () => { delete mine.x }, () => Object.setPrototypeOf(mine, {}), () => Object.preventExtensions(mine)]) {
  try { change(); return String(change) } catch (error) { if (!(error instanceof TypeError)) throw error }
}
return typeof tools.x.get === "function" ? "contained" : "changed";
