// harm: changes what JSON does; expect: returns "contained"
const changed = [];
try { JSON.stringify = () => "{}"; changed.push('JSON.stringify = () => "{}"') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { JSON.parse = () => 1; changed.push('JSON.parse = () => 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Object.prototype.toJSON = () => 1; changed.push('Object.prototype.toJSON = () => 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Array.prototype.toJSON = () => 1; changed.push('Array.prototype.toJSON = () => 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { String.prototype.toJSON = () => 1; changed.push('String.prototype.toJSON = () => 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
const got = await tools.x.get({ a: [1, { b: "c" }] });
return changed.length === 0 && JSON.stringify(got) === '{"a":[1,{"b":"c"}]}' ? "contained" : changed;
