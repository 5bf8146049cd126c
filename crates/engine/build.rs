//! Builds the guest module: QuickJS-NG's C sources, which arrive as a Cargo dependency, and our shim, for wasm32.
//!
//! Neither the sources nor the module are committed. What is missing on the machine is said with the line that mends it.

#![expect(
    clippy::print_stderr,
    clippy::exit,
    clippy::disallowed_methods,
    reason = "a build script talks to the builder and has nobody to return to"
)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, exit},
};

/// Changes to the engine's source. Each text must occur exactly as often as said, or the build stops: a changed source
/// wants a fresh look, not a silent miss.
const PATCHES: &[(&str, usize, &str)] = &[
    // The C library answers a number far below -1 with a number, where there is none.
    ("{ return acosh(d); }", 1, "{ return d < 1 ? NAN : acosh(d); }"),
    // For WASI this version sets no stack limit, so that recursion would trap and never be a RangeError.
    ("#if defined(__wasi__)\n    rt->stack_limit = 0; /* no limit */\n#else", 1, "#if 0\n#else"),
    // The limit of the stack counts the guest's own stack, of which these hardly use any: a long chain of them used up the native one,
    // which a script cannot catch. So each takes some (shim.c).
    (
        "    JSProxyData *s;\n    JSValue method, ret, proto1;\n    int res;\n",
        1,
        "    JSProxyData *s;\n    JSValue method, ret, proto1;\n    int res;\n    RF_COUNTED_FRAME;\n",
    ),
    (
        "    JSIteratorHelperData *it;\n    bool finished;\n    JSValue ret;\n\n    *pdone = false;\n",
        1,
        "    JSIteratorHelperData *it;\n    bool finished;\n    JSValue ret;\n    RF_COUNTED_FRAME;\n\n    *pdone = false;\n    if (js_check_stack_overflow(ctx->rt, 0))\n        return JS_ThrowStackOverflow(ctx);\n",
    ),
    (
        "    JSValueConst *arg_buf, new_target;\n    int arg_count, i;\n",
        1,
        "    JSValueConst *arg_buf, new_target;\n    int arg_count, i;\n    RF_COUNTED_FRAME;\n",
    ),
    (
        "        JSBoundFunction *s = p->u.bound_function;\n        return JS_IsInstanceOf(ctx, val, s->func_obj);\n",
        1,
        "        JSBoundFunction *s = p->u.bound_function;\n        RF_COUNTED_FRAME;\n        if (js_check_stack_overflow(ctx->rt, 0)) {\n            JS_ThrowStackOverflow(ctx);\n            return -1;\n        }\n        return JS_IsInstanceOf(ctx, val, s->func_obj);\n",
    ),
    // A jump notes where it stands and a loop where it begins, so that a run stopped in a loop without calls can say its line.
    ("CASE(OP_goto):\n", 1, "CASE(OP_goto):\n            sf->cur_pc = pc;\n"),
    ("CASE(OP_goto16):\n", 1, "CASE(OP_goto16):\n            sf->cur_pc = pc;\n"),
    ("CASE(OP_goto8):\n", 1, "CASE(OP_goto8):\n            sf->cur_pc = pc;\n"),
    (
        "op1 = sp[-1];\n                pc += 4;\n",
        2,
        "op1 = sp[-1];\n                sf->cur_pc = pc;\n                pc += 4;\n",
    ),
    (
        "op1 = sp[-1];\n                pc += 1;\n",
        2,
        "op1 = sp[-1];\n                sf->cur_pc = pc;\n                pc += 1;\n",
    ),
    (
        LOOP_WHILE,
        1,
        "BlockEnv break_entry;\n\n            emit_source_loc(s);\n            label_cont = new_label(s);\n            label_break = new_label(s);\n\n            push_break_entry(s->cur_func, &break_entry,",
    ),
    (
        LOOP_DO,
        1,
        "BlockEnv break_entry;\n\n            emit_source_loc(s);\n            label_cont = new_label(s);\n            label_break = new_label(s);\n            label1 = new_label(s);\n",
    ),
    (
        LOOP_FOR,
        1,
        "bool is_async;\n\n            emit_source_loc(s);\n            source_line_num = s->token.line_num;\n",
    ),
    // Keys are counted first and collected then, so an object that is still asleep (value.c) must wake before.
    (
        "    *ptab = NULL;\n    *plen = 0;\n\n    /* compute the number of returned properties */\n",
        1,
        "    *ptab = NULL;\n    *plen = 0;\n    if (p->class_id == lazy_class && rf_wake(ctx, p))\n        return -1;\n",
    ),
    // The built-ins are frozen. `this.name = …` in a subclass of Error must work all the same.
    (
        "    uint8_t is_HTMLDDA : 1; /* specific annex B IsHtmlDDA behavior */\n",
        1,
        "    uint8_t is_HTMLDDA : 1;\n    uint8_t is_builtin : 1;\n",
    ),
    ("    p->is_HTMLDDA = 0;\n", 1, "    p->is_HTMLDDA = 0;\n    p->is_builtin = 0;\n"),
    (
        "            } else if (!(prs->flags & JS_PROP_WRITABLE)) {\n                goto read_only_prop;\n            } else {\n                break;\n",
        1,
        "            } else if (!(prs->flags & JS_PROP_WRITABLE) && !p1->is_builtin) {\n                goto read_only_prop;\n            } else {\n                break;\n",
    ),
    // A method that is not there is told with what its receiver is instead.
    (
        "                ret_val = JS_CallInternal(ctx, call_argv[-1], call_argv[-2],\n                                          JS_UNDEFINED, call_argc,\n",
        1,
        "                if (unlikely(JS_VALUE_GET_TAG(call_argv[-1]) != JS_TAG_OBJECT)) {\n                    rf_no_method(ctx, call_argv[-2]);\n                    goto exception;\n                }\n                ret_val = JS_CallInternal(ctx, call_argv[-1], call_argv[-2],\n                                          JS_UNDEFINED, call_argc,\n",
    ),
    (
        "        return JS_ThrowTypeError(ctx, \"value is not iterable\");\n",
        1,
        "        return rf_not_iterable(ctx, obj);\n",
    ),
    // A throw notes where it stands, for values that are no errors and have no stack.
    (
        "CASE(OP_throw):\n            JS_Throw(ctx, *--sp);\n",
        1,
        "CASE(OP_throw):\n            sf->cur_pc = pc;\n            rf_note_throw();\n            JS_Throw(ctx, *--sp);\n",
    ),
    // A call stands where its bracket opens, and not where its last argument does.
    (
        "        JSFunctionDef *fd = s->cur_func;\n        bool has_optional_chain = false;\n",
        1,
        "        JSFunctionDef *fd = s->cur_func;\n        bool has_optional_chain = false;\n        int call_line = s->token.line_num, call_column = s->token.col_num;\n",
    ),
    (
        "                /* apply function call */\n                switch(opcode) {\n",
        1,
        "                emit_source_loc_at(s, call_line, call_column);\n                switch(opcode) {\n",
    ),
    // Destructuring and spreading fail too, and have no place of their own.
    (
        "    assign_addr = s->cur_func->byte_code.size;\n    if (s->token.val == '{') {\n",
        1,
        "    assign_addr = s->cur_func->byte_code.size;\n    emit_source_loc(s);\n    if (s->token.val == '{') {\n",
    ),
    (
        "        if (s->token.val == TOK_ELLIPSIS) {\n            if (next_token(s))\n                return -1;\n            if (js_parse_assign_expr(s))\n                return -1;\n            emit_op(s, OP_append);\n",
        1,
        "        if (s->token.val == TOK_ELLIPSIS) {\n            int spread_line = s->token.line_num, spread_column = s->token.col_num;\n            if (next_token(s))\n                return -1;\n            if (js_parse_assign_expr(s))\n                return -1;\n            emit_source_loc_at(s, spread_line, spread_column);\n            emit_op(s, OP_append);\n",
    ),
    (
        "                        if (next_token(s))\n                            return -1;\n                        if (js_parse_assign_expr(s))\n                            return -1;\n                        /* XXX: could pass is_last indicator? */\n                        emit_op(s, OP_append);\n",
        1,
        "                        int spread_line = s->token.line_num, spread_column = s->token.col_num;\n                        if (next_token(s))\n                            return -1;\n                        if (js_parse_assign_expr(s))\n                            return -1;\n                        emit_source_loc_at(s, spread_line, spread_column);\n                        emit_op(s, OP_append);\n",
    ),
    (
        "            emit_func_call:\n                switch(opcode) {\n",
        1,
        "            emit_func_call:\n                emit_source_loc_at(s, call_line, call_column);\n                switch(opcode) {\n",
    ),
];

const LOOP_WHILE: &str = "BlockEnv break_entry;\n\n            label_cont = new_label(s);\n            label_break = new_label(s);\n\n            push_break_entry(s->cur_func, &break_entry,";
const LOOP_DO: &str = "BlockEnv break_entry;\n\n            label_cont = new_label(s);\n            label_break = new_label(s);\n            label1 = new_label(s);\n";
const LOOP_FOR: &str = "bool is_async;\n\n            source_line_num = s->token.line_num;\n";

fn main() {
    for path in ["build.rs", "guest/shim.c", "guest/value.c", "guest/encode.c", "guest/prelude.js", "guest/lib"] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-env-changed=REFRAIN_CLANG");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let sources = quickjs_sources(&manifest);
    fs::write(out.join("quickjs.c"), patched(&sources.join("quickjs.c"))).expect("OUT_DIR is writable");

    let compiler = Compiler::find(&manifest, &out);
    let module = out.join("engine.wasm");
    let mut command = compiler.command();
    command
        .args(["-O2", "-g0", "-std=gnu11", "-w", "-mexec-model=reactor"])
        .args(["-D_GNU_SOURCE", "-DNDEBUG", "-D_WASI_EMULATED_SIGNAL"])
        // The patched copy comes before the original.
        .arg("-I")
        .arg(&out)
        .arg("-I")
        .arg(&sources)
        .arg(manifest.join("guest/shim.c"))
        .args(["libregexp.c", "libunicode.c", "dtoa.c"].map(|name| sources.join(name)))
        .args(["-Wl,-z,stack-size=1048576", "-Wl,--export=__stack_pointer", "-Wl,--strip-all", "-lm"])
        // The stack lies below the data, so that an overflow traps at address zero and overwrites nothing. Zig does so by
        // itself and knows no such flag; `prepare` in template.rs checks what came out.
        .args(match compiler {
            Compiler::Clang(_) => &["-Wl,--stack-first"][..],
            Compiler::Zig(..) => &[],
        })
        .arg("-o")
        .arg(&module);
    let output = command.output().unwrap_or_else(|error| stop(&format!("cannot run {command:?}: {error}")));
    if !output.status.success() {
        stop(&format!(
            "{} cannot build the engine module:\n{}",
            compiler.describe(),
            String::from_utf8_lossy(&output.stderr)
        ));
    }
}

/// A clang that can build for wasm32.
enum Compiler {
    Clang(PathBuf),
    Zig(PathBuf, PathBuf),
}

impl Compiler {
    /// Finds a compiler that can link a small program for WASI.
    fn find(manifest: &Path, out: &Path) -> Self {
        let mut candidates = Vec::new();
        if let Some(chosen) = env::var_os("REFRAIN_CLANG") {
            candidates.push(Self::Clang(chosen.into()));
        } else {
            for name in ["clang-19", "clang-20", "clang-21", "clang-22", "clang-18", "clang-17", "clang-16", "clang"] {
                candidates.push(Self::Clang(name.into()));
            }
            let root = manifest.ancestors().nth(2).unwrap_or(manifest);
            candidates.push(Self::Zig(root.join(".tools/ziglang/zig"), out.join("zig-cache")));
        }
        let probe = out.join("probe.c");
        fs::write(
            &probe,
            "#include <math.h>\n#include <stdlib.h>\ndouble probe(double x) { return malloc(1) ? cosh(x) : 0; }\n",
        )
        .expect("OUT_DIR is writable");
        let mut reasons = String::new();
        for candidate in candidates {
            let result = candidate
                .command()
                .args(["-O1", "-mexec-model=reactor", "-Wl,--export=probe", "-lm", "-o"])
                .arg(out.join("probe.wasm"))
                .arg(&probe)
                .output();
            match result {
                Ok(output) if output.status.success() => return candidate,
                Ok(output) => {
                    let said = String::from_utf8_lossy(&output.stderr).into_owned();
                    let first = said.lines().find(|line| line.contains("error")).unwrap_or("failed");
                    reasons.push_str(&format!("\n  {}: {first}", candidate.describe()));
                }
                Err(_) => {} // not installed
            }
        }
        stop(&format!("no clang that can build for wasm32 (the engine runs as WebAssembly).{reasons}"))
    }

    fn command(&self) -> Command {
        match self {
            Self::Clang(path) => {
                let mut command = Command::new(path);
                command.args(["--target=wasm32-wasi"]);
                // Debian keeps the WASI C library below /usr. Elsewhere the SDK's clang knows its own.
                if Path::new("/usr/include/wasm32-wasi").exists() {
                    command.arg("--sysroot=/usr");
                }
                command
            }
            Self::Zig(path, cache) => {
                let mut command = Command::new(path);
                command.args(["cc", "-target", "wasm32-wasi"]);
                command.env("ZIG_GLOBAL_CACHE_DIR", cache).env("ZIG_LOCAL_CACHE_DIR", cache);
                command
            }
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Clang(path) | Self::Zig(path, _) => format!("`{}`", path.display()),
        }
    }
}

/// The folder of the C sources inside the crate that carries them. It has no `links` key to be told by.
fn quickjs_sources(manifest: &Path) -> PathBuf {
    let cargo = env::var_os("CARGO").expect("cargo sets CARGO");
    let ask = |more: &[&str]| {
        Command::new(&cargo)
            .args(["metadata", "--format-version", "1", "--manifest-path"])
            .arg(manifest.join("Cargo.toml"))
            .args(more)
            .output()
            .expect("cargo can be run by its own build")
    };
    let mut output = ask(&["--offline"]);
    if !output.status.success() {
        output = ask(&[]);
    }
    if !output.status.success() {
        stop(&format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().find(|package| package["name"] == "rquickjs-sys"))
        .and_then(|package| package["manifest_path"].as_str())
        .and_then(|path| Path::new(path).parent())
        .map(|folder| folder.join("quickjs"))
        .filter(|folder| folder.join("quickjs.c").exists())
        .unwrap_or_else(|| {
            stop("the crate `rquickjs-sys`, which carries the engine's C sources, was not found; run `cargo fetch`")
        })
}

fn patched(path: &Path) -> String {
    let mut source = fs::read_to_string(path).unwrap_or_else(|error| stop(&format!("{}: {error}", path.display())));
    for (old, times, new) in PATCHES {
        let found = source.matches(old).count();
        if found != *times {
            stop(&format!("{}: expected {times} of {old:?}, found {found}", path.display()));
        }
        source = source.replace(old, new);
    }
    source
}

fn stop(what: &str) -> ! {
    eprintln!("\nrefrain-engine: {what}\n");
    eprintln!("On Debian:   sudo apt-get install -y clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32");
    eprintln!("Elsewhere:   python3 -m pip install --target .tools ziglang==0.15.2   (in the project's folder)");
    eprintln!("Another clang, from a WASI SDK for instance, is taken from REFRAIN_CLANG.\n");
    exit(1)
}
