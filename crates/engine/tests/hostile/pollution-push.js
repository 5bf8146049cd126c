// harm: changes the methods of arrays; expect: returns "contained"
const changed = [];
try { Array.prototype.push = () => 1; changed.push('Array.prototype.push = () => 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Array.prototype.join = () => "x"; changed.push('Array.prototype.join = () => "x"') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Array.prototype[Symbol.iterator] = null; changed.push('Array.prototype[Symbol.iterator] = null') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Array.prototype.push.call(Array.prototype, 1); changed.push('Array.prototype.push.call(Array.prototype, 1)') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Array.prototype.length = 9; changed.push('Array.prototype.length = 9') } catch (error) { if (!(error instanceof TypeError)) throw error }
const got = await tools.x.get({ a: [1, { b: "c" }] });
return changed.length === 0 && JSON.stringify(got) === '{"a":[1,{"b":"c"}]}' ? "contained" : changed;
