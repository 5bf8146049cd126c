// harm: loads a module by a global; expect: returns "contained"
return typeof require === "undefined" && typeof module === "undefined" && typeof process === "undefined" ? "contained" : "reached";
