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

#include <ctype.h>
#include <stdint.h>

struct JSContext;
struct JSObject;
/* Objects that are still asleep, see value.c. Declared here, since a patched line of the engine asks for them. */
static uint16_t lazy_class;
static int rf_wake(struct JSContext *c, struct JSObject *p);
static void rf_no_method(struct JSContext *c, uint64_t receiver);
static uint64_t rf_not_iterable(struct JSContext *c, uint64_t value);
static void rf_note_throw(void);

/* Takes a part of the guest's own stack where the native one is used: by patched functions of the engine. */
#define RF_COUNTED_FRAME volatile char counted_frame[128]; counted_frame[0] = 0

#include "quickjs.c"

#define EXPORT(name) __attribute__((export_name(#name))) name

/* What `refrain.host` is told. The host's list is in sandbox.rs. */
enum {
    HOST_CALL = 1,   /* id: the call's number; a: JSON `[source, tool]`; b: the arguments as JSON */
    HOST_OUTPUT = 2, /* id: a kind of output (OUTPUT_NOTE, and those of prelude.js); a: its text */
    HOST_RESULT = 3, /* a: the result as JSON; id 0 when the script returned nothing */
    HOST_THREW = 4,  /* a: the thrown value, described as JSON */
};

#define OUTPUT_NOTE 3 /* {"kind","message","call"?,"site"?} */

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
    JSValue promise;
} Pending;

/* A promise that was rejected, or a call's that was answered, and that nobody has looked at so far. */
typedef struct {
    uint32_t call; /* 0 for a promise that is no call's */
    JSValue promise;
    JSValue site;
} Unwatched;

static JSRuntime *rt;
static JSContext *ctx;
static JSValue hook_begin, hook_result, hook_threw, hook_failure, hook_show;
static JSValue script = JS_UNDEFINED; /* the promise of the script */
static bool script_is_over;

/* Calls that are out, by ascending number. */
static Pending *pending;
static uint32_t pending_count, pending_room, calls_made;

static Unwatched *unwatched;
static uint32_t unwatched_count, unwatched_room;
static bool noting; /* the list is being read: it stays as it is, whatever the script does meanwhile */

static bool exited; /* exit() was called */

/* Makes room for one more entry. */
static bool grow(void **entries, uint32_t count, uint32_t *room, size_t size)
{
    void *grown;
    if (count < *room)
        return true;
    grown = js_realloc(ctx, *entries, (*room ? *room * 2 : 16) * size);
    if (!grown)
        return false;
    *entries = grown;
    *room = *room ? *room * 2 : 16;
    return true;
}

/* Writes the script's own frames, the innermost first, as lines like `    at f (script:3:7)`. Returns how many bytes. */
static size_t write_frames(char *text, size_t room, const char *before)
{
    size_t used = 0;
    int depth = 0;
    JSStackFrame *frame;

    text[0] = '\0';
    for (frame = rt ? rt->current_stack_frame : NULL; frame && depth < 32; frame = frame->prev_frame) {
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
        JS_AtomGetStr(ctx, file, sizeof(file), code->filename);
        if (strcmp(file, "script"))
            continue;
        line = find_line_num(ctx, code, frame->cur_pc - code->byte_code_buf - 1, &column);
        JS_AtomGetStr(ctx, name, sizeof(name), code->func_name);
        wrote = snprintf(text + used, room - used, "%s%s (%s:%d:%d)\n", before, name, file, line, column);
        if (wrote < 0 || (size_t)wrote >= room - used) {
            text[used] = '\0';
            break;
        }
        used += wrote;
        depth++;
    }
    return used;
}

#include "value.c"

static void say_note(const char *kind, JSValueConst message, uint32_t call, JSValueConst site);

#include "encode.c"

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

/* Tells the host a note, with the call or the stack that it is about where there is one. */
static void say_note(const char *kind, JSValueConst message, uint32_t call, JSValueConst site)
{
    Encoder e = { .c = ctx, .mode = ENCODE_SHOW, .root = "note" };

    js_dbuf_init(ctx, &e.out);
    dbuf_printf(&e.out, "{\"kind\":\"%s\"", kind);
    if (JS_IsString(message)) {
        dbuf_putstr(&e.out, ",\"message\":");
        encode_string(&e, message, NULL);
    }
    if (call)
        dbuf_printf(&e.out, ",\"call\":%u", call);
    if (JS_IsString(site)) {
        dbuf_putstr(&e.out, ",\"site\":");
        encode_string(&e, site, NULL);
    }
    dbuf_putc(&e.out, '}');
    if (!e.out.error)
        refrain_host(HOST_OUTPUT, OUTPUT_NOTE, (const char *)e.out.buf, e.out.size, NULL, 0);
    dbuf_free(&e.out);
}

static bool is_watched(JSValueConst promise)
{
    JSObject *p = JS_VALUE_GET_OBJ(promise);
    return p->class_id != JS_CLASS_PROMISE || p->u.promise_data->is_handled;
}

/* Takes over `promise` and `site`. */
static void remember_unwatched(uint32_t call, JSValue promise, JSValue site)
{
    if (grow((void **)&unwatched, unwatched_count, &unwatched_room, sizeof(*unwatched))) {
        unwatched[unwatched_count++] = (Unwatched){ call, promise, site };
    } else {
        JS_FreeValue(ctx, promise);
        JS_FreeValue(ctx, site);
    }
}

/* The engine asks at each rejection that has no handler yet. Whether one comes later is looked at in the end. */
static void on_rejection(JSContext *c, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque)
{
    JSValue site = JS_UNDEFINED;
    uint32_t i;

    if (noting)
        return;
    /* What is caught is mostly what was rejected last. */
    for (i = unwatched_count; i-- > 0;) {
        Unwatched *one = &unwatched[i];
        if (JS_VALUE_GET_PTR(one->promise) != JS_VALUE_GET_PTR(promise))
            continue;
        if (is_handled && !one->call) {
            JS_FreeValue(c, one->promise);
            JS_FreeValue(c, one->site);
            memmove(one, one + 1, (--unwatched_count - i) * sizeof(*one));
        }
        return;
    }
    if (is_handled)
        return;
    if (JS_IsError(reason))
        site = JS_GetPropertyStr(c, reason, "stack");
    if (JS_IsException(site)) {
        JS_FreeValue(c, JS_GetException(c));
        site = JS_UNDEFINED;
    }
    remember_unwatched(0, JS_DupValue(c, promise), site);
}

static void note_more(const char *kind, uint32_t count)
{
    char text[64];
    JSValue message;

    if (count <= MOST_NOTES)
        return;
    snprintf(text, sizeof(text), "and %u more like it", count - MOST_NOTES);
    message = JS_NewString(ctx, text);
    say_note(kind, message, 0, JS_UNDEFINED);
    JS_FreeValue(ctx, message);
}

/* Notes what the script made and never looked at. */
static void note_unwatched(void)
{
    uint32_t i, calls = 0, others = 0;

    noting = true;
    for (i = 0; i < pending_count; i++) {
        if (!is_watched(pending[i].promise) && ++calls <= MOST_NOTES)
            say_note("not_awaited", JS_UNDEFINED, pending[i].id, pending[i].site);
    }
    for (i = 0; i < unwatched_count; i++) {
        Unwatched *one = &unwatched[i];
        JSValue reason = JS_UNDEFINED, message = JS_UNDEFINED;
        if (is_watched(one->promise))
            continue;
        if (JS_IsObject(script) && JS_VALUE_GET_PTR(one->promise) == JS_VALUE_GET_PTR(script))
            continue;
        if (++*(one->call ? &calls : &others) > MOST_NOTES)
            continue;
        if (JS_PromiseState(ctx, one->promise) == JS_PROMISE_REJECTED) {
            reason = JS_PromiseResult(ctx, one->promise);
            message = JS_Call(ctx, hook_show, JS_UNDEFINED, 1, (JSValueConst *)&reason);
            if (JS_IsException(message)) {
                JS_FreeValue(ctx, JS_GetException(ctx));
                message = JS_UNDEFINED;
            }
        }
        say_note(one->call ? "not_awaited" : "unhandled_rejection", message, one->call, one->site);
        JS_FreeValue(ctx, message);
        JS_FreeValue(ctx, reason);
    }
    note_more("not_awaited", calls);
    note_more("unhandled_rejection", others);
    noting = false;
}

/* Where the last `throw` stood. */
static char throw_site[1024];

static void rf_note_throw(void)
{
    write_frames(throw_site, sizeof(throw_site), "    at ");
}

/* Throws "`what`; the value is …": most often a list is wanted and the value only holds one, or a promise of one. */
static void throw_with_value(JSContext *c, const char *what, JSValueConst value)
{
    JSPropertyEnum *names;
    DynBuf list;
    uint32_t i, count;

    if (!JS_IsObject(value)) {
        JS_ThrowTypeError(c, "%s", what);
        return;
    }
    if (JS_VALUE_GET_OBJ(value)->class_id == JS_CLASS_PROMISE) {
        JS_ThrowTypeError(c, "%s; the value is a promise: `await` it first", what);
        return;
    }
    /* Only plain objects are looked into: keys and data properties of those can be read without running the script. */
    if ((JS_VALUE_GET_OBJ(value)->class_id != JS_CLASS_OBJECT && JS_VALUE_GET_OBJ(value)->class_id != lazy_class)
        || JS_GetOwnPropertyNames(c, &names, &count, value, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY)) {
        JS_ThrowTypeError(c, "%s", what);
        return;
    }
    js_dbuf_init(c, &list);
    for (i = 0; i < count && list.size < 300; i++) {
        JSObject *p = JS_VALUE_GET_OBJ(value);
        JSProperty *property;
        JSShapeProperty *shape = find_own_property(&property, p, names[i].atom);
        const char *name = JS_AtomToCString(c, names[i].atom);
        bool is_array = shape && (shape->flags & JS_PROP_TMASK) == JS_PROP_NORMAL && JS_IsArray(property->u.value);
        dbuf_printf(&list, "%s`%.60s`%s", i ? ", " : "", name ? name : "?", is_array ? " (an array)" : "");
        JS_FreeCString(c, name);
    }
    dbuf_putc(&list, '\0');
    if (count)
        JS_ThrowTypeError(c, "%s; the value is an object with %s%s", what, (const char *)list.buf, i < count ? ", ..." : "");
    else
        JS_ThrowTypeError(c, "%s; the value is an empty object", what);
    dbuf_free(&list);
    JS_FreePropertyEnum(c, names, count);
}

/* For `receiver.method()` where there is no such method. The host, which has the source, puts the name in front. */
static void rf_no_method(JSContext *c, uint64_t receiver)
{
    throw_with_value(c, "not a function", (JSValueConst)receiver);
}

static uint64_t rf_not_iterable(JSContext *c, uint64_t value)
{
    throw_with_value(c, "value is not iterable", (JSValueConst)value);
    return JS_EXCEPTION;
}

/* native.call(target, args): emits a call and returns its promise. */
static JSValue native_call(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv)
{
    JSValue functions[2], promise;
    const char *target, *args;
    size_t target_len, args_len;
    char site[1024];

    if (argc < 2)
        return JS_ThrowTypeError(c, "native.call takes two arguments");
    if (exited) { /* something swallowed the end of the script, as a promise's executor can */
        JS_ThrowInterrupted(c);
        return JS_EXCEPTION;
    }
    if (!grow((void **)&pending, pending_count, &pending_room, sizeof(*pending)))
        return JS_EXCEPTION;
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
        call->promise = JS_DupValue(c, promise);
        call->site = JS_NewStringLen(c, site, write_frames(site, sizeof(site), "    at "));
        refrain_host(HOST_CALL, call->id, target, target_len, args, args_len);
    }
    JS_FreeCString(c, target);
    JS_FreeCString(c, args);
    return promise;
}

/* native.exit(): ends the script. Nothing of it runs any more, `finally` included. */
static JSValue native_exit(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv)
{
    exited = true;
    JS_ThrowInterrupted(c);
    return JS_EXCEPTION;
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
static int32_t say_threw(JSValue thrown)
{
    JSValue described;

    script_is_over = true;
    note_unwatched();
    {
        JSValue site = JS_NewString(ctx, throw_site);
        JSValueConst argv[2] = { thrown, site };
        described = JS_Call(ctx, hook_threw, JS_UNDEFINED, 2, argv);
        JS_FreeValue(ctx, site);
    }
    if (JS_IsString(described)) {
        say_string(HOST_THREW, 0, described);
    } else {
        static const char fallback[] = "{\"message\":\"a value that cannot be described\"}";
        JS_FreeValue(ctx, JS_GetException(ctx));
        refrain_host(HOST_THREW, 0, fallback, sizeof(fallback) - 1, NULL, 0);
    }
    JS_FreeValue(ctx, described);
    JS_FreeValue(ctx, thrown);
    return RF_ENDED;
}

static int32_t say_result(JSValue value)
{
    JSValue json = JS_Call(ctx, hook_result, JS_UNDEFINED, 1, (JSValueConst *)&value);

    JS_FreeValue(ctx, value);
    if (JS_IsException(json)) {
        JSValue thrown = JS_GetException(ctx);
        if (!exited)
            return say_threw(thrown);
        JS_FreeValue(ctx, thrown); /* exit() in a getter of the result, where it is as good as anywhere */
        json = JS_UNDEFINED;
    }
    script_is_over = true;
    note_unwatched();
    if (JS_IsUndefined(json))
        refrain_host(HOST_RESULT, 0, NULL, 0, NULL, 0);
    else
        say_string(HOST_RESULT, 1, json);
    JS_FreeValue(ctx, json);
    return RF_ENDED;
}

/* Runs jobs until none is left, then says how the script stands. */
static int32_t settle(void)
{
    while (!exited) {
        JSContext *which;
        int done = JS_ExecutePendingJob(rt, &which);
        if (done == 0)
            break;
        if (done < 0)
            JS_FreeValue(ctx, JS_GetException(ctx)); /* a job's exception belongs to a promise; nothing else can see it */
    }
    if (exited)
        return say_result(JS_UNDEFINED);
    switch (JS_PromiseState(ctx, script)) {
    case JS_PROMISE_FULFILLED:
        return say_result(JS_PromiseResult(ctx, script));
    case JS_PROMISE_REJECTED:
        return say_threw(JS_PromiseResult(ctx, script));
    default:
        return pending_count ? RF_WAITING : RF_STALLED;
    }
}

static int has_exited(JSRuntime *r, void *opaque)
{
    return exited;
}

/* native.isBase64(text): whether a text is nothing but base64. A regular expression over megabytes would need as many for itself. */
static JSValue native_is_base64(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv)
{
    JSString *string;
    uint32_t i, padding = 0;
    bool ok;
    JSValue flat = argc ? JS_ToString(c, argv[0]) : JS_UNDEFINED;

    if (JS_VALUE_GET_TAG(flat) != JS_TAG_STRING) {
        JS_FreeValue(c, flat);
        return JS_FALSE;
    }
    string = JS_VALUE_GET_STRING(flat);
    ok = string->len > 0 && !string->is_wide_char;
    for (i = 0; ok && i < string->len; i++) {
        uint8_t byte = str8(string)[i];
        if (byte == '=')
            ok = ++padding <= 2;
        else
            ok = !padding && (isalnum(byte) || byte == '+' || byte == '/');
    }
    ok = ok && (string->len - padding) % 4 != 1 && (!padding || (string->len % 4 == 0 && string->len > padding));
    JS_FreeValue(c, flat);
    return JS_NewBool(c, ok);
}

/* native.parse(text, reviver): `JSON.parse`, which gives a plain object or a list back. Tools whose text is JSON give its value, and
 * scripts written for other systems parse it all the same; as a text it is none that parses. Here, so that stacks stay as they were. */
static JSValue native_parse(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv)
{
    static bool is_said;
    JSValue message, where;
    char site[1024];
    JSObject *p;

    if (JS_VALUE_GET_TAG(argv[0]) != JS_TAG_OBJECT)
        return js_json_parse(c, this_val, argc, argv);
    p = JS_VALUE_GET_OBJ(argv[0]);
    if (p->class_id != JS_CLASS_ARRAY && p->class_id != lazy_class
        && (p->class_id != JS_CLASS_OBJECT || (p->shape->proto && p->shape->proto != JS_VALUE_GET_OBJ(c->class_proto[JS_CLASS_OBJECT]))))
        return js_json_parse(c, this_val, argc, argv);
    if (!is_said) {
        is_said = true;
        message = JS_NewString(c, "`JSON.parse` was given a value and no text, and gave it back; what a tool returns as JSON is parsed already");
        where = JS_NewStringLen(c, site, write_frames(site, sizeof(site), "    at "));
        say_note("already_parsed", message, 0, where);
        JS_FreeValue(c, message);
        JS_FreeValue(c, where);
    }
    return JS_DupValue(c, argv[0]);
}

static const JSCFunctionListEntry native_functions[] = {
    JS_CFUNC_DEF("call", 2, native_call),
    JS_CFUNC_DEF("encode", 3, native_encode),
    JS_CFUNC_DEF("exit", 0, native_exit),
    JS_CFUNC_DEF("isBase64", 1, native_is_base64),
    JS_CFUNC_DEF("output", 2, native_output),
    JS_CFUNC_DEF("parse", 2, native_parse),
};

/* Freezes every object there is but the global one, and says how many there were. Called when only built-ins and the prelude exist. */
static int freeze_existing(void)
{
    struct list_head *at;
    JSObject **objects;
    int count = 0, i;
    bool failed = false;

    list_for_each(at, &rt->gc_obj_list)
        count++;
    objects = js_malloc(ctx, count * sizeof(*objects));
    if (!objects)
        return -1;
    count = 0;
    list_for_each(at, &rt->gc_obj_list) {
        JSObject *p = (JSObject *)list_entry(at, JSGCObjectHeader, link);
        if (JS_GC_TYPE(p) != JS_GC_OBJ_TYPE_JS_OBJECT || p == JS_VALUE_GET_OBJ(ctx->global_obj)
            || p == JS_VALUE_GET_OBJ(ctx->global_var_obj) || p->is_builtin)
            continue;
        js_dup(JS_MKPTR(JS_TAG_OBJECT, p));
        objects[count++] = p;
    }
    for (i = 0; i < count; i++) {
        JSValue object = JS_MKPTR(JS_TAG_OBJECT, objects[i]), done;
        objects[i]->is_builtin = 1;
        done = js_object_seal(ctx, JS_UNDEFINED, 1, (JSValueConst *)&object, 1);
        failed |= JS_IsException(done);
        JS_FreeValue(ctx, done);
        JS_FreeValue(ctx, object);
    }
    js_free(ctx, objects);
    return failed ? -1 : count;
}

/* Freezes the built-ins. A patched line of the engine lets a script set a property of its own object although a frozen prototype has
 * one of that name. */
static int freeze_builtins(void)
{
    JSPropertyEnum *names;
    uint32_t count, i;
    int frozen;

    /* Some built-ins are made when they are first looked at, so all are. Looking may make more of them. */
    if (JS_GetOwnPropertyNames(ctx, &names, &count, ctx->global_obj, JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK))
        return -1;
    for (i = 0; i < count; i++)
        JS_FreeValue(ctx, JS_GetProperty(ctx, ctx->global_obj, names[i].atom));
    JS_FreePropertyEnum(ctx, names, count);
    do {
        frozen = freeze_existing();
    } while (frozen > 0);
    return frozen;
}

/* Takes all the free memory between the template's objects, for good, so that what a run allocates lies together at the end. A
 * snapshot holds the pages that a run has changed; strewn over the template they would be half as many again. */
static void plug_holes(void)
{
    const size_t largest = 256 * 1024;
    char *end = malloc(largest);
    size_t size;

    free(end);
    for (size = largest / 2; size >= 8; size /= 2) {
        char *hole;
        while ((hole = malloc(size)) && hole < end)
            memset(hole, 0, size);
        free(hole);
    }
}

/* Forgets the source text of the prelude's functions, which the engine keeps for Function.prototype.toString. */
static void drop_sources(void)
{
    struct list_head *at;

    list_for_each(at, &rt->gc_obj_list) {
        JSFunctionBytecode *code = (JSFunctionBytecode *)list_entry(at, JSGCObjectHeader, link);
        if (JS_GC_TYPE(code) != JS_GC_OBJ_TYPE_FUNCTION_BYTECODE || !code->source)
            continue;
        js_free_rt(rt, code->source);
        code->source = NULL;
        code->source_len = 0;
    }
}

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
    hook_show = JS_GetPropertyStr(ctx, hooks, "show");
    JS_FreeValue(ctx, hooks);
    if (freeze_builtins())
        goto failed;
    JS_SetHostPromiseRejectionTracker(rt, on_rejection, NULL);
    JS_SetInterruptHandler(rt, has_exited, NULL);
    /* Twice: a collection orders the list of objects anew, and a second one finds it in order. So one in a run changes little. */
    JS_RunGC(rt);
    JS_RunGC(rt);
    drop_sources();
    plug_holes();
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
        return say_threw(JS_GetException(ctx));
    }
    script = JS_Call(ctx, function, JS_UNDEFINED, 0, NULL);
    JS_FreeValue(ctx, function);
    if (JS_IsException(script)) {
        script = JS_NULL;
        if (!exited)
            return say_threw(JS_GetException(ctx));
        JS_FreeValue(ctx, JS_GetException(ctx));
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
    if (is_watched(call.promise)) {
        JS_FreeValue(ctx, call.promise);
        JS_FreeValue(ctx, call.site);
    } else {
        remember_unwatched(id, call.promise, call.site);
    }
    return settle();
}

/* Where the script stands, for a run that was stopped in the middle of something. Allocates nothing and calls no script. Returns a
 * static text that ends in a zero. */
const char *EXPORT(rf_where)(void)
{
    static char text[4096];
    write_frames(text, sizeof(text), "");
    return text;
}
