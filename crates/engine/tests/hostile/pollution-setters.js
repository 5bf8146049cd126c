// harm: lays setters under the elements of every array; expect: returns "contained"
const changed = [];
try { Object.defineProperty(Array.prototype, 0, { set() {} }); changed.push('Object.defineProperty(Array.prototype, 0, { set() {} })') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Object.defineProperty(Object.prototype, 0, { set() {} }); changed.push('Object.defineProperty(Object.prototype, 0, { set() {} })') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Object.defineProperty(Object.prototype, "value", { get() { return 1 } }); changed.push('Object.defineProperty(Object.prototype, "value", { get() { return 1 } })') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Object.defineProperty(Object.prototype, "get", { value() { return 1 } }); changed.push('Object.defineProperty(Object.prototype, "get", { value() { return 1 } })') } catch (error) { if (!(error instanceof TypeError)) throw error }
const got = await tools.x.get({ a: [1, { b: "c" }] });
return changed.length === 0 && JSON.stringify(got) === '{"a":[1,{"b":"c"}]}' ? "contained" : changed;
