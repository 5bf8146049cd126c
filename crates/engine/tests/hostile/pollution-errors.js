// harm: changes errors; expect: returns "contained"
const changed = [];
try { Error.prototype.name = 1; changed.push('Error.prototype.name = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { ToolError.prototype.name = "x"; changed.push('ToolError.prototype.name = "x"') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { ToolError.prototype.constructor = 1; changed.push('ToolError.prototype.constructor = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { Error.prototype.toString = 1; changed.push('Error.prototype.toString = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { TypeError.prototype.message = "x"; changed.push('TypeError.prototype.message = "x"') } catch (error) { if (!(error instanceof TypeError)) throw error }
const got = await tools.x.get({ a: [1, { b: "c" }] });
return changed.length === 0 && JSON.stringify(got) === '{"a":[1,{"b":"c"}]}' ? "contained" : changed;
