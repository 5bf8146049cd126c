// harm: pads a text beyond the longest length; expect: returns "contained"
const out = [];
for (const go of [() => "a".padEnd(2 ** 31, "b"), () => "a".repeat(2 ** 31), () => "ab".repeat(2 ** 30)]) { try { go(); out.push(String(go)) } catch (error) { if (!(error instanceof RangeError)) throw error } }
return out.length === 0 ? "contained" : out;
