const o = { b: 1, 10: 2, a: 3, 2: 4, [Symbol("s")]: 5, "-1": 6, "01": 7, 4294967295: 8, 4294967294: 9 };
o.z = 1; delete o.b; o.b = 2;
const seen = []; for (const k in Object.assign(Object.create({ proto: 1, 5: 2 }), o)) seen.push(k);
return { keys: Object.keys(o), own: Reflect.ownKeys(o).map(String), seen, map: [...new Map([["b", 1], ["a", 2], [1, 3]]).keys()], json: JSON.stringify(o), parsed: Object.keys(JSON.parse('{"b":1,"2":1,"a":1,"1":1}')), tools: [Object.keys(tools), Object.keys(tools.x)] };
// = {"keys":["2","10","4294967294","a","-1","01","4294967295","z","b"],"own":["2","10","4294967294","a","-1","01","4294967295","z","b","Symbol(s)"],"seen":["2","10","4294967294","a","-1","01","4294967295","z","b","5","proto"],"map":["b","a",1],"json":"{\"2\":4,\"10\":2,\"4294967294\":9,\"a\":3,\"-1\":6,\"01\":7,\"4294967295\":8,\"z\":1,\"b\":2}","parsed":["1","2","b","a"],"tools":[["x","my-src"],["get","put"]]}
