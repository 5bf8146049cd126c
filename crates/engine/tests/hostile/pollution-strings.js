// harm: changes strings and symbols; expect: returns "contained"
const changed = [];
try { String.prototype.split = 1; changed.push('String.prototype.split = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { String.prototype[0] = "x"; changed.push('String.prototype[0] = "x"') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { String.prototype.includes = () => true; changed.push('String.prototype.includes = () => true') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Symbol.iterator = 1; changed.push('Symbol.iterator = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Symbol.prototype.description = 1; changed.push('Symbol.prototype.description = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { RegExp.prototype.exec = 1; changed.push('RegExp.prototype.exec = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { RegExp.prototype.compile("a"); changed.push('RegExp.prototype.compile("a")') } catch (error) { if (!(error instanceof TypeError)) throw error }
const got = await tools.x.get({ a: [1, { b: "c" }] });
return changed.length === 0 && JSON.stringify(got) === '{"a":[1,{"b":"c"}]}' ? "contained" : changed;
