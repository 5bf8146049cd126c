// harm: logs large objects; expect: returns "contained"
const o = []; for (let i = 0; i < 5000; i++) o.push({ i }); for (let i = 0; i < 100; i++) console.log(o);
return "contained";
