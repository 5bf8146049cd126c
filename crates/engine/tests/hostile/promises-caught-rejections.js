// harm: rejects and catches thirty thousand times; expect: returns "contained"
for (let i = 0; i < 3e4; i++) { try { await (async () => { throw new Error("x") })() } catch {} }
return "contained";
