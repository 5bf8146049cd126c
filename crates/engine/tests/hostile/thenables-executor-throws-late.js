// harm: throws after it has resolved; expect: returns "contained"
const p = new Promise((yes) => { yes("contained"); throw new Error("late") });
return await p;
