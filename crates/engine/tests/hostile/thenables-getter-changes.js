// harm: gives another then at each look; expect: returns "contained"
let looks = 0;
const value = await { get then() { looks++; return looks === 1 ? (yes) => yes("once") : (yes) => yes("twice") } };
return value === "once" && looks === 1 ? "contained" : [value, looks];
