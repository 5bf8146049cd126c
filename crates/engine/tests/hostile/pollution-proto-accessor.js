// harm: changes prototypes of built-ins; expect: returns "contained"
const changed = [];
try { Array.prototype.__proto__ = null; changed.push('Array.prototype.__proto__ = null') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Object.setPrototypeOf(Function.prototype, null); changed.push('Object.setPrototypeOf(Function.prototype, null)') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Object.setPrototypeOf(Object.prototype, new Proxy({}, {})); changed.push('Object.setPrototypeOf(Object.prototype, new Proxy({}, {}))') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Error.prototype.__proto__ = {}; changed.push('Error.prototype.__proto__ = {}') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Object.setPrototypeOf(tools.x.get, null); changed.push('Object.setPrototypeOf(tools.x.get, null)') } catch (error) { if (!(error instanceof TypeError)) throw error }
const got = await tools.x.get({ a: [1, { b: "c" }] });
return changed.length === 0 && JSON.stringify(got) === '{"a":[1,{"b":"c"}]}' ? "contained" : changed;
