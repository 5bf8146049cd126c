// harm: loads a module; expect: refused
return await import("node:fs");
