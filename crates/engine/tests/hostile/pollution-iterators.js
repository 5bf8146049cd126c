// harm: changes the prototypes behind iterators and generators; expect: returns "contained"
const changed = [];
try { [][Symbol.iterator]().__proto__.next = 1; changed.push('[][Symbol.iterator]().__proto__.next = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { (function* () {})().__proto__.__proto__.next = 1; changed.push('(function* () {})().__proto__.__proto__.next = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { (async function* () {})().__proto__.__proto__.next = 1; changed.push('(async function* () {})().__proto__.__proto__.next = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { new Map().entries().__proto__.next = 1; changed.push('new Map().entries().__proto__.next = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Iterator.prototype.map = 1; changed.push('Iterator.prototype.map = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { (async () => {}).__proto__.x = 1; changed.push('(async () => {}).__proto__.x = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
const got = await tools.x.get({ a: [1, { b: "c" }] });
return changed.length === 0 && JSON.stringify(got) === '{"a":[1,{"b":"c"}]}' ? "contained" : changed;
