// harm: changes promises; expect: returns "contained"
const changed = [];
try { Promise.prototype.then = () => 1; changed.push('Promise.prototype.then = () => 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Promise.resolve = () => 1; changed.push('Promise.resolve = () => 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Promise.prototype.constructor = 1; changed.push('Promise.prototype.constructor = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Object.defineProperty(Promise, Symbol.species, { value: 1 }); changed.push('Object.defineProperty(Promise, Symbol.species, { value: 1 })') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { delete Promise.prototype.catch; changed.push('delete Promise.prototype.catch') } catch (error) { if (!(error instanceof TypeError)) throw error }
const got = await tools.x.get({ a: [1, { b: "c" }] });
return changed.length === 0 && JSON.stringify(got) === '{"a":[1,{"b":"c"}]}' ? "contained" : changed;
