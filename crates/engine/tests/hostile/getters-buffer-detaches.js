// harm: hands the buffer away while it is being read; expect: returns "contained"
const bytes = new Uint8Array(4096).fill(7);
const args = { get a() { bytes.buffer.transfer(); return 1 }, bytes };
const got = await tools.x.get(args);
return got.bytes.base64 === "" ? "contained" : "read after it was gone";
