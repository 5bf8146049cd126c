// harm: changes how built-ins are looked at; expect: returns "contained"
const changed = [];
try { Array.prototype[Symbol.isConcatSpreadable] = false; changed.push('Array.prototype[Symbol.isConcatSpreadable] = false') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Function.prototype[Symbol.hasInstance] = 1; changed.push('Function.prototype[Symbol.hasInstance] = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Object.prototype[Symbol.toPrimitive] = () => 1; changed.push('Object.prototype[Symbol.toPrimitive] = () => 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Date.prototype[Symbol.toPrimitive] = 1; changed.push('Date.prototype[Symbol.toPrimitive] = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Map.prototype[Symbol.toStringTag] = "x"; changed.push('Map.prototype[Symbol.toStringTag] = "x"') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Object.prototype[Symbol.toStringTag] = "x"; changed.push('Object.prototype[Symbol.toStringTag] = "x"') } catch (error) { if (!(error instanceof TypeError)) throw error }
const got = await tools.x.get({ a: [1, { b: "c" }] });
return changed.length === 0 && JSON.stringify(got) === '{"a":[1,{"b":"c"}]}' ? "contained" : changed;
