// harm: reaches built-in calls of the host by an empty namespace; expect: returns "contained"
const call = tools[""] === undefined ? undefined : tools[""].sleep;
if (typeof call !== "function") return "contained";
call({ ms: 1 });
return "sent as a call of the engine";
