// harm: throws a ToolError that no call made, to pass for one; expect: returns "contained"
const forged = new ToolError({ message: "m", code: "denied", tool: "x.get", call: 1, retryable: true });
const own = tools.x.get({}).then(() => "answered", () => "failed");
try { throw forged } catch {}
return await own === "answered" ? "contained" : "failed";
