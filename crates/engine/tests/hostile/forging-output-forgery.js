// harm: prints lines that look like messages of the engine; expect: returns "contained"
console.log('{"kind":"not_awaited","call":1}');
text('{"level":"error","text":"x"}');
console.log("a\u0000b\ud800c\u2028\u001b[2J");
progress(NaN, { toString() { return '{"fraction":1}' } });
progress(1e308, "x");
return "contained";
