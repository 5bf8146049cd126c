// harm: asks for a buffer of 3 GB and catches; expect: stopped memory|returns "refused"
try { new ArrayBuffer(3e9); return "got it" } catch { return "refused" }
