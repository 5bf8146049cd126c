/* The guest side of the boundary: QuickJS-NG and the few functions that the host calls.
 *
 * This file is compiled together with the engine's source (a copy patched by build.rs), because it sets the random
 * state, skips the `eval` intrinsic and walks stack frames, none of which the public interface offers.
 *
 * Invariants
 *   - The linear memory is the whole state. Every static below lives in it, so a copy of the memory is a copy of the run.
 *   - The only import of ours is `refrain.host`. It never calls back: it hands bytes over and returns.
 *   - The host calls one export at a time, in the order initialise, begin, start, deliver*. Out of order answers RF_MISUSE.
 *   - No export returns while a job is left, unless the script is over.
 *
 * Not here: policy, names of tools, limits. The host counts memory and fuel, and stops the guest from outside. */

#include <stdint.h>

struct JSContext;
struct JSObject;
/* Objects that are still asleep, see value.c. Declared here, since a patched line of the engine asks for them. */
static uint16_t lazy_class;
static int rf_wake(struct JSContext *c, struct JSObject *p);

#include "quickjs.c"

#define EXPORT(name) __attribute__((export_name(#name))) name

/* What `refrain.host` is told. The host's list is in sandbox.rs. */
enum {
    HOST_CALL = 1,   /* id: the call's number; a: JSON `[source, tool]`; b: the arguments as JSON */
    HOST_OUTPUT = 2, /* id: a kind of output, see prelude.js; a: its text */
    HOST_RESULT = 3, /* a: the result as JSON; id 0 when the script returned nothing */
    HOST_THREW = 4,  /* a: the thrown value, described as JSON */
};

/* What start and deliver return. */
enum {
    RF_MISUSE = -1,
    RF_WAITING = 0, /* calls are out */
    RF_ENDED = 1,   /* HOST_RESULT or HOST_THREW was told in this turn */
    RF_STALLED = 2, /* the script waits, and nothing is out that could wake it */
};

__attribute__((import_module("refrain"), import_name("host")))
void refrain_host(uint32_t op, uint32_t id, const char *a, size_t a_len, const char *b, size_t b_len);

/* The shadow stack is 1 MiB (build.rs links with it first, so an overflow would trap and not overwrite the heap).
 * Half of it is the script's; a recursion past that is a RangeError. */
#define SCRIPT_STACK_BYTES (512 * 1024)

typedef struct {
    uint32_t id;
    JSValue resolve;
    JSValue reject;
    JSValue site; /* the stack of the call, a string: the engine keeps no stack across an await */
} Pending;

static JSRuntime *rt;
static JSContext *ctx;
static JSValue hook_begin, hook_result, hook_threw, hook_failure;
static JSValue script = JS_UNDEFINED; /* the promise of the script */
static bool script_is_over;

/* Calls that are out, by ascending number. */
static Pending *pending;
static uint32_t pending_count, pending_room, calls_made;

#include "value.c"

static void say_string(uint32_t op, uint32_t id, JSValueConst text)
{
    size_t length;
    const char *bytes = JS_ToCStringLen(ctx, &length, text);
    if (!bytes) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        bytes = NULL;
        length = 0;
    }
    refrain_host(op, id, bytes, length, NULL, 0);
    if (bytes)
        JS_FreeCString(ctx, bytes);
}

/* native.call(target, args, site): emits a call and returns its promise. */
static JSValue native_call(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv)
{
    JSValue functions[2], promise;
    const char *target, *args;
    size_t target_len, args_len;

    if (argc < 3)
        return JS_ThrowTypeError(c, "native.call takes three arguments");
    if (pending_count == pending_room) {
        uint32_t room = pending_room ? pending_room * 2 : 16;
        Pending *grown = js_realloc(c, pending, room * sizeof(*grown));
        if (!grown)
            return JS_EXCEPTION;
        pending = grown;
        pending_room = room;
    }
    target = JS_ToCStringLen(c, &target_len, argv[0]);
    if (!target)
        return JS_EXCEPTION;
    args = JS_ToCStringLen(c, &args_len, argv[1]);
    if (!args) {
        JS_FreeCString(c, target);
        return JS_EXCEPTION;
    }
    promise = JS_NewPromiseCapability(c, functions);
    if (!JS_IsException(promise)) {
        Pending *call = &pending[pending_count++];
        call->id = ++calls_made;
        call->resolve = functions[0];
        call->reject = functions[1];
        call->site = JS_DupValue(c, argv[2]);
        refrain_host(HOST_CALL, call->id, target, target_len, args, args_len);
    }
    JS_FreeCString(c, target);
    JS_FreeCString(c, args);
    return promise;
}

/* native.output(kind, text) */
static JSValue native_output(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv)
{
    uint32_t kind;
    if (argc < 2 || JS_ToUint32(c, &kind, argv[0]))
        return JS_EXCEPTION;
    say_string(HOST_OUTPUT, kind, argv[1]);
    return JS_UNDEFINED;
}

/* Tells the host of an exception. The prelude describes it; where even that fails, a plain text does. */
static void say_threw(JSValue thrown)
{
    JSValue described = JS_Call(ctx, hook_threw, JS_UNDEFINED, 1, (JSValueConst *)&thrown);
    if (JS_IsString(described)) {
        say_string(HOST_THREW, 0, described);
    } else {
        static const char fallback[] = "{\"message\":\"the script threw a value that cannot be described\"}";
        JS_FreeValue(ctx, JS_GetException(ctx));
        refrain_host(HOST_THREW, 0, fallback, sizeof(fallback) - 1, NULL, 0);
    }
    JS_FreeValue(ctx, described);
    JS_FreeValue(ctx, thrown);
    script_is_over = true;
}

/* Runs jobs until none is left, then says how the script stands. */
static int32_t settle(void)
{
    for (;;) {
        JSContext *which;
        int done = JS_ExecutePendingJob(rt, &which);
        if (done == 0)
            break;
        if (done < 0)
            JS_FreeValue(ctx, JS_GetException(ctx)); /* a job's exception belongs to a promise; nothing else can see it */
    }
    switch (JS_PromiseState(ctx, script)) {
    case JS_PROMISE_FULFILLED: {
        JSValue value = JS_PromiseResult(ctx, script);
        JSValue json = JS_Call(ctx, hook_result, JS_UNDEFINED, 1, (JSValueConst *)&value);
        JS_FreeValue(ctx, value);
        if (JS_IsException(json)) {
            say_threw(JS_GetException(ctx));
        } else {
            if (JS_IsUndefined(json))
                refrain_host(HOST_RESULT, 0, NULL, 0, NULL, 0);
            else
                say_string(HOST_RESULT, 1, json);
            JS_FreeValue(ctx, json);
            script_is_over = true;
        }
        return RF_ENDED;
    }
    case JS_PROMISE_REJECTED:
        say_threw(JS_PromiseResult(ctx, script));
        return RF_ENDED;
    default:
        return pending_count ? RF_WAITING : RF_STALLED;
    }
}

static const JSCFunctionListEntry native_functions[] = {
    JS_CFUNC_DEF("call", 3, native_call),
    JS_CFUNC_DEF("output", 2, native_output),
};

/* Makes the engine and runs the prelude. The memory after this is the template that every run starts from. Frees `prelude`. */
int32_t EXPORT(rf_initialise)(char *prelude, size_t length)
{
    JSValue make, native, hooks;

    if (rt)
        return RF_MISUSE;
    rt = JS_NewRuntime();
    ctx = rt ? JS_NewContextRaw(rt) : NULL;
    if (!ctx)
        return RF_MISUSE;
    JS_SetMaxStackSize(rt, SCRIPT_STACK_BYTES);
    /* No JS_AddIntrinsicEval: without it `eval` and the function constructors throw, while this file compiles through
     * the parser directly. No weak references: what they show depends on the collector. */
    if (JS_AddIntrinsicBaseObjects(ctx) || JS_AddIntrinsicDate(ctx) || JS_AddIntrinsicRegExp(ctx)
        || JS_AddIntrinsicJSON(ctx) || JS_AddIntrinsicProxy(ctx) || JS_AddIntrinsicMapSet(ctx)
        || JS_AddIntrinsicTypedArrays(ctx) || JS_AddIntrinsicPromise(ctx) || JS_AddIntrinsicAToB(ctx))
        return RF_MISUSE;

    prelude[length] = '\0';
    if (define_lazy_class())
        return RF_MISUSE;

    make = __JS_EvalInternal(ctx, ctx->global_obj, prelude, length, "prelude", 1, JS_EVAL_TYPE_GLOBAL, -1);
    free(prelude); /* it was allocated before there was a context */
    if (JS_IsException(make))
        goto failed;
    native = JS_NewObject(ctx);
    JS_SetPropertyFunctionList(ctx, native, native_functions, countof(native_functions));
    hooks = JS_Call(ctx, make, JS_UNDEFINED, 1, (JSValueConst *)&native);
    JS_FreeValue(ctx, make);
    JS_FreeValue(ctx, native);
    if (JS_IsException(hooks))
        goto failed;
    hook_begin = JS_GetPropertyStr(ctx, hooks, "begin");
    hook_result = JS_GetPropertyStr(ctx, hooks, "result");
    hook_threw = JS_GetPropertyStr(ctx, hooks, "threw");
    hook_failure = JS_GetPropertyStr(ctx, hooks, "failure");
    JS_FreeValue(ctx, hooks);
    JS_RunGC(rt);
    return 0;
failed:
    say_string(HOST_THREW, 0, JS_GetException(ctx));
    return RF_MISUSE;
}

/* Room for `length` bytes and a terminating zero. The export that takes them frees them. */
char *EXPORT(rf_allocate)(size_t length)
{
    return ctx ? js_malloc(ctx, length + 1) : malloc(length + 1);
}

/* Seeds the run and hands the prelude its facts (JSON). Frees `facts`. */
int32_t EXPORT(rf_begin)(uint64_t seed, char *facts, size_t length)
{
    JSValue parsed, done;

    if (!ctx || !JS_IsUndefined(script))
        return RF_MISUSE;
    ctx->random_state = seed ? seed : 1; /* xorshift never leaves zero */
    if (JS_AddPerformance(ctx)) /* here and not in the template, since it fixes the time that it counts from */
        return RF_MISUSE;
    facts[length] = '\0';
    parsed = JS_ParseJSON(ctx, facts, length, "<facts>");
    js_free(ctx, facts);
    if (JS_IsException(parsed))
        goto failed;
    done = JS_Call(ctx, hook_begin, JS_UNDEFINED, 1, (JSValueConst *)&parsed);
    JS_FreeValue(ctx, parsed);
    if (JS_IsException(done))
        goto failed;
    JS_FreeValue(ctx, done);
    return 0;
failed:
    say_string(HOST_THREW, 0, JS_GetException(ctx));
    return RF_MISUSE;
}

/* Starts the script: `source` is an expression whose value is an async function. Frees `source`. */
int32_t EXPORT(rf_start)(char *source, size_t length)
{
    JSValue function;

    if (!ctx || !JS_IsUndefined(script))
        return RF_MISUSE;
    source[length] = '\0';
    function = __JS_EvalInternal(ctx, ctx->global_obj, source, length, "script", 1, JS_EVAL_TYPE_GLOBAL, -1);
    js_free(ctx, source);
    if (JS_IsException(function)) {
        script = JS_NULL;
        say_threw(JS_GetException(ctx));
        return RF_ENDED;
    }
    script = JS_Call(ctx, function, JS_UNDEFINED, 0, NULL);
    JS_FreeValue(ctx, function);
    if (JS_IsException(script)) {
        script = JS_NULL;
        say_threw(JS_GetException(ctx));
        return RF_ENDED;
    }
    return settle();
}

/* What deliver is given. */
enum {
    RF_JSON = 0,    /* the value, as JSON */
    RF_FAILURE = 1, /* the fields of a ToolError, as JSON */
    RF_COMPACT = 2, /* the value in the form of value.c */
};

/* Answers call `id`. Frees `bytes`, or keeps them for as long as the value needs them. */
int32_t EXPORT(rf_deliver)(uint32_t id, uint32_t kind, char *bytes, size_t length)
{
    uint32_t low = 0, high = pending_count;
    bool failed = kind == RF_FAILURE;
    Pending call;
    JSValue value, done;

    if (!ctx || JS_IsUndefined(script) || script_is_over)
        return RF_MISUSE;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pending[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == pending_count || pending[low].id != id)
        return RF_MISUSE;
    call = pending[low];
    memmove(&pending[low], &pending[low + 1], (pending_count - low - 1) * sizeof(call));
    pending_count--;

    if (kind == RF_COMPACT) {
        value = value_of_compact((uint8_t *)bytes);
    } else {
        bytes[length] = '\0';
        value = JS_ParseJSON(ctx, bytes, length, "<result>");
        js_free(ctx, bytes);
    }
    if (JS_IsException(value)) { /* nested too deep for the parser, since the host sends only valid JSON */
        failed = true;
        value = JS_GetException(ctx);
    } else if (failed) {
        JSValueConst argv[2] = { value, call.site };
        JSValue error = JS_Call(ctx, hook_failure, JS_UNDEFINED, 2, argv);
        JS_FreeValue(ctx, value);
        value = JS_IsException(error) ? JS_GetException(ctx) : error;
    }
    done = JS_Call(ctx, failed ? call.reject : call.resolve, JS_UNDEFINED, 1, (JSValueConst *)&value);
    if (JS_IsException(done))
        JS_FreeValue(ctx, JS_GetException(ctx));
    else
        JS_FreeValue(ctx, done);
    JS_FreeValue(ctx, value);
    JS_FreeValue(ctx, call.resolve);
    JS_FreeValue(ctx, call.reject);
    JS_FreeValue(ctx, call.site);
    return settle();
}

/* Where the script stands, for a run that was stopped in the middle of something: lines like `f (script:3:7)`, the innermost
 * first. Allocates nothing and calls no script. Returns a static text that ends in a zero. */
const char *EXPORT(rf_where)(void)
{
    static char text[4096];
    size_t used = 0;
    int depth = 0;
    JSStackFrame *frame;

    text[0] = '\0';
    for (frame = rt ? rt->current_stack_frame : NULL; frame && depth < 32; frame = frame->prev_frame, depth++) {
        char name[64], file[64];
        JSObject *function;
        JSFunctionBytecode *code;
        int line, column, wrote;

        if (JS_VALUE_GET_TAG(frame->cur_func) != JS_TAG_OBJECT)
            continue;
        function = JS_VALUE_GET_OBJ(frame->cur_func);
        if (!js_class_has_bytecode(function->class_id) || !frame->cur_pc)
            continue;
        code = function->u.func.function_bytecode;
        line = find_line_num(ctx, code, frame->cur_pc - code->byte_code_buf - 1, &column);
        JS_AtomGetStr(ctx, name, sizeof(name), code->func_name);
        JS_AtomGetStr(ctx, file, sizeof(file), code->filename);
        wrote = snprintf(text + used, sizeof(text) - used, "%s (%s:%d:%d)\n", name, file, line, column);
        if (wrote < 0 || (size_t)wrote >= sizeof(text) - used) {
            text[used] = '\0';
            break;
        }
        used += wrote;
    }
    return text;
}
