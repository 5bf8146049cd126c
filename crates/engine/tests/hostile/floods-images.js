// harm: shows a thousand images; expect: returns "contained"
for (let i = 0; i < 1000; i++) image({ type: "image", mimeType: "image/png", data: "A".repeat(10000) });
return "contained";
