// harm: makes code from text through a subclass of Function; expect: returns "contained"
const F = (() => {}).constructor;
class G extends F {}
try { return typeof new G("return 1") } catch { return "contained" }
