// harm: awaits the tools objects, which would call a tool named then; expect: returns "contained"
const same = [await tools === tools, await tools.x === tools.x, await tools.x.get === tools.x.get];
return same.every(Boolean) ? "contained" : same;
