// harm: changes what the prelude made; expect: returns "contained"
const changed = [];
try { console.log = 1; changed.push('console.log = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { text.call = 1; changed.push('text.call = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { parallel.x = 1; changed.push('parallel.x = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { store.x = 1; changed.push('store.x = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { ToolError.x = 1; changed.push('ToolError.x = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { tools.x.get.x = 1; changed.push('tools.x.get.x = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { tools.x.y = 1; changed.push('tools.x.y = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { delete tools.x; changed.push('delete tools.x') } catch (error) { if (!(error instanceof TypeError)) throw error }
try { globalThis.tools = 1; changed.push('globalThis.tools = 1') } catch (error) { if (!(error instanceof TypeError)) throw error }
const got = await tools.x.get({ a: [1, { b: "c" }] });
return changed.length === 0 && JSON.stringify(got) === '{"a":[1,{"b":"c"}]}' ? "contained" : changed;
