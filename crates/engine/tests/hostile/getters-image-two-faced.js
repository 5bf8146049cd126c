// harm: shows the check one picture and sends another; expect: returns "contained"
let looks = 0;
image({ type: "image", mimeType: "image/png", get data() { return looks++ === 0 ? "AAAA" : { not: "text" } } });
return "contained";
