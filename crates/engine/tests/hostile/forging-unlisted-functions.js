// harm: reaches functions of the host by an empty namespace; the test sees whether they were called as such; expect: returns "contained"
for (const name of ["sleep", "ask", "searchTools"]) { try { await tools[""]?.[name]?.({ ms: 1 }) } catch {} }
return "contained";
