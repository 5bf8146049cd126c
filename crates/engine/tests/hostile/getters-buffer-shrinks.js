// harm: shrinks the buffer below the view that is read; expect: returns "contained"
const buffer = new ArrayBuffer(4096, { maxByteLength: 8192 });
const view = new Uint8Array(buffer, 2048);
view.fill(7);
const got = await tools.x.get({ get a() { buffer.resize(16); return 1 }, view });
return got.view.base64 === "" ? "contained" : "read past the end";
