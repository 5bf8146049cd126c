// harm: finds tools where there are none, on the prototypes of the lists of tools; expect: returns "contained"
const names = [];
for (const key of ["hasOwnProperty", "toLocaleString", "isPrototypeOf", "propertyIsEnumerable", "__defineGetter__", "__proto__"]) names.push(...Object.keys(tools[key] ?? {}));
return names.length === 0 ? "contained" : names;
