// The maths functions on fifty inputs each, as bit patterns. Runs in the engine; what it returns is maths.json.
const view = new DataView(new ArrayBuffer(8));
const bits = (number) => {
  view.setFloat64(0, number);
  return view.getUint32(0).toString(16).padStart(8, "0") + view.getUint32(4).toString(16).padStart(8, "0");
};

let state = 0x2545f491;
const draw = () => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 4294967296;
};
// From tiny to huge, of both signs, and the places where implementations part ways.
const special = [0, -0, 1, -1, 0.5, -0.5, Math.PI, Math.PI / 2, 1e-300, 1e-20, 709.5, -709.5, 1e6, 1e22, 5e-324, 2 ** 53, NaN, Infinity, -Infinity];
const scales = [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000, 1e4, 1e5, 1e6]; // engines do not agree on powers of ten
const spread = (i) => (i < special.length ? special[i] : (draw() - 0.5) * scales[Math.floor(draw() * 12)]);

const functions = {
  hypot: 2, pow: 2, atan2: 2, cosh: 1, exp: 1, log10: 1, sin: 1, cos: 1, sinh: 1, asinh: 1, tan: 1, cbrt: 1, expm1: 1, log1p: 1,
  acosh: 1, atanh: 1, tanh: 1, log: 1, log2: 1, acos: 1, asin: 1, atan: 1, sqrt: 1, fround: 1,
};
const all = {};
for (const [name, count] of Object.entries(functions)) {
  all[name] = Array.from({ length: 50 }, (_, i) => {
    const inputs = [spread(i)];
    if (count === 2) inputs.push(name === "pow" ? (draw() - 0.3) * 8 : spread((i * 7 + 3) % 50));
    return [...inputs, Math[name](...inputs)].map(bits).join(" ");
  });
}
return all;
