/* From a value to JSON, in three ways.
 *
 * ENCODE_RESULT: what a script returns or stores. Everything that has a sensible JSON form gets it (Date, Map, Set, BigInt, bytes, Error);
 *   what is changed or left out is told as a note with its path; a cycle, or a getter that throws, is an error with its path.
 * ENCODE_ARGUMENTS: what a call sends. As above, but what would be changed or dropped without the tool knowing is an error.
 * ENCODE_SHOW: what console and text show. Never fails.
 *
 * Here and not in JavaScript, since a script may change whatever JavaScript would use. Getters, toJSON and proxy traps of the value run, as
 * they do for JSON.stringify; so nothing is remembered across a call into the script but counted references. */

enum { ENCODE_RESULT, ENCODE_ARGUMENTS, ENCODE_SHOW };

/* Deeper than this many readers of JSON give up. */
#define MOST_LEVELS 500
#define MOST_LEVELS_SHOWN 20
#define MOST_NOTES 20

/* One step of the path to a value. Lies on the C stack. */
typedef struct Path {
    const struct Path *up;
    JSAtom key;      /* JS_ATOM_NULL for an element */
    uint32_t index;
    void *object;    /* the container that the step leads out of, to find cycles */
} Path;

typedef struct {
    JSContext *c;
    DynBuf out;
    int mode;
    int notes;
    const char *root; /* how messages call the whole: "result" or "arguments" */
} Encoder;

static int encode(Encoder *e, JSValueConst value, const Path *path, int level);

/* The path as a script would write it: `result.rows[3].name`. */
static void write_path(Encoder *e, DynBuf *text, const Path *path)
{
    if (!path) {
        dbuf_putstr(text, e->root);
        return;
    }
    write_path(e, text, path->up);
    if (path->key == JS_ATOM_NULL) {
        dbuf_printf(text, "[%u]", path->index);
    } else {
        const char *name = JS_AtomToCString(e->c, path->key);
        dbuf_printf(text, ".%.80s", name ? name : "?");
        JS_FreeCString(e->c, name);
    }
}

static const char *path_text(Encoder *e, DynBuf *text, const Path *path)
{
    js_dbuf_init(e->c, text);
    write_path(e, text, path);
    dbuf_putc(text, '\0');
    return text->buf ? (const char *)text->buf : "?";
}

/* Notes "`path` <what>", as far as notes go in this mode. */
static void note(Encoder *e, const Path *path, const char *kind, const char *what)
{
    DynBuf text, json;
    JSValue string;

    if (e->mode != ENCODE_RESULT || ++e->notes > MOST_NOTES)
        return;
    js_dbuf_init(e->c, &json);
    dbuf_printf(&json, "`%s` %s%s", path_text(e, &text, path), what, e->notes == MOST_NOTES ? " (and more like it)" : "");
    dbuf_free(&text);
    string = JS_NewStringLen(e->c, (const char *)json.buf, json.size);
    dbuf_free(&json);
    say_note(kind, string, 0, JS_UNDEFINED);
    JS_FreeValue(e->c, string);
}

/* Throws "`path` <what>". */
static int refuse(Encoder *e, const Path *path, const char *what)
{
    DynBuf text;
    JS_ThrowTypeError(e->c, "`%s` %s", path_text(e, &text, path), what);
    dbuf_free(&text);
    return -1;
}

/* The script's own exception while `path` was read, with the path. Limits and the like pass as they are. */
static int could_not_read(Encoder *e, const Path *path)
{
    JSValue thrown, message;
    const char *text = NULL;

    if (e->mode == ENCODE_SHOW || JS_IsUncatchableError(e->c->rt->current_exception))
        return -1;
    thrown = JS_GetException(e->c);
    message = JS_Call(e->c, hook_show, JS_UNDEFINED, 1, (JSValueConst *)&thrown);
    if (JS_IsString(message))
        text = JS_ToCString(e->c, message);
    else
        JS_FreeValue(e->c, JS_GetException(e->c));
    {
        DynBuf where;
        const char *end = text ? strchr(text, '\n') : NULL;
        int length = text ? (end ? (int)(end - text) : (int)strlen(text)) : 0;
        JS_ThrowTypeError(e->c, "`%s` could not be read: %.*s", path_text(e, &where, path), length > 500 ? 500 : length, text ? text : "");
        dbuf_free(&where);
    }
    JS_FreeCString(e->c, text);
    JS_FreeValue(e->c, message);
    JS_FreeValue(e->c, thrown);
    return -1;
}

/* What has no JSON form: refused in arguments, null or left out with a note in results, named when shown. */
static int no_form(Encoder *e, const Path *path, const char *shown, const char *what)
{
    if (e->mode == ENCODE_ARGUMENTS)
        return refuse(e, path, what);
    if (e->mode == ENCODE_SHOW)
        return dbuf_printf(&e->out, "\"[%s]\"", shown);
    note(e, path, "value_changed", what);
    return dbuf_putstr(&e->out, "null");
}

static int encode_string(Encoder *e, JSValueConst value, const Path *path)
{
    static const char hex[] = "0123456789abcdef";
    JSString *string;
    uint32_t i, length;
    bool lone = false;
    JSValue flat = JS_ToString(e->c, value); /* a rope becomes one string */

    if (JS_IsException(flat))
        return -1;
    if (JS_VALUE_GET_TAG(flat) != JS_TAG_STRING) {
        JS_FreeValue(e->c, flat);
        return -1;
    }
    string = JS_VALUE_GET_STRING(flat);
    length = string->len;
    dbuf_putc(&e->out, '"');
    for (i = 0; i < length; i++) {
        uint32_t unit = string->is_wide_char ? str16(string)[i] : str8(string)[i];
        if (unit >= 0x20 && unit < 0x7f && unit != '"' && unit != '\\') {
            dbuf_putc(&e->out, unit);
            continue;
        }
        switch (unit) {
        case '"': dbuf_putstr(&e->out, "\\\""); continue;
        case '\\': dbuf_putstr(&e->out, "\\\\"); continue;
        case '\n': dbuf_putstr(&e->out, "\\n"); continue;
        case '\r': dbuf_putstr(&e->out, "\\r"); continue;
        case '\t': dbuf_putstr(&e->out, "\\t"); continue;
        }
        if (unit < 0x20 || unit == 0x7f) {
            char escape[] = { '\\', 'u', '0', '0', hex[unit >> 4], hex[unit & 15] };
            dbuf_put(&e->out, (const uint8_t *)escape, sizeof(escape));
            continue;
        }
        if (unit >= 0xd800 && unit < 0xe000) {
            uint32_t low = i + 1 < length ? str16(string)[i + 1] : 0;
            if (unit < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
                unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                i++;
            } else {
                lone = true;
                unit = 0xfffd;
            }
        }
        {
            uint8_t utf8[4];
            dbuf_put(&e->out, utf8, utf8_encode(utf8, unit));
        }
    }
    dbuf_putc(&e->out, '"');
    JS_FreeValue(e->c, flat);
    if (lone) {
        if (e->mode == ENCODE_ARGUMENTS)
            return refuse(e, path, "has half of a surrogate pair, which is no text");
        note(e, path, "value_changed", "has half of a surrogate pair, which became U+FFFD");
    }
    return e->out.error;
}

static int encode_atom(Encoder *e, JSAtom atom, const Path *path)
{
    JSValue name = JS_AtomToString(e->c, atom);
    int failed = JS_IsException(name) || encode_string(e, name, path);
    JS_FreeValue(e->c, name);
    return failed ? -1 : 0;
}

static int encode_number(Encoder *e, double number, const Path *path)
{
    JSValue string;

    if (!isfinite(number)) {
        const char *what = isnan(number) ? "is NaN, which JSON does not have" : "is infinite, which JSON does not have";
        return no_form(e, path, isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity", what);
    }
    if (number == 0 && signbit(number))
        return dbuf_putstr(&e->out, "-0");
    string = JS_ToString(e->c, JS_NewFloat64(e->c, number));
    if (JS_IsException(string))
        return -1;
    {
        const char *digits = JS_ToCString(e->c, string);
        int failed = digits ? dbuf_putstr(&e->out, digits) : -1;
        JS_FreeCString(e->c, digits);
        JS_FreeValue(e->c, string);
        return failed;
    }
}

static int encode_base64(Encoder *e, const uint8_t *bytes, size_t length, const char *type)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t i;

    dbuf_printf(&e->out, "{\"type\":\"%s\",\"base64\":\"", type);
    for (i = 0; i < length; i += 3) {
        uint32_t three = bytes[i] << 16 | (i + 1 < length ? bytes[i + 1] << 8 : 0) | (i + 2 < length ? bytes[i + 2] : 0);
        char four[4] = { digits[three >> 18], digits[three >> 12 & 63], i + 1 < length ? digits[three >> 6 & 63] : '=',
                         i + 2 < length ? digits[three & 63] : '=' };
        dbuf_put(&e->out, (const uint8_t *)four, 4);
    }
    return dbuf_putstr(&e->out, "\"}");
}

/* The elements of `value`, which has `length` of them. */
static int encode_elements(Encoder *e, JSValueConst value, int64_t length, const Path *path, int level)
{
    Path step = { path, JS_ATOM_NULL, 0, JS_VALUE_GET_PTR(value) };
    int64_t i, holes = 0;

    if (length > UINT32_MAX / 8 && e->mode != ENCODE_SHOW)
        return refuse(e, path, "is an array too long to be sent");
    dbuf_putc(&e->out, '[');
    for (i = 0; i < length; i++) {
        JSValue element;
        int failed;
        if (i)
            dbuf_putc(&e->out, ',');
        if (e->mode == ENCODE_SHOW && i == 1000) {
            dbuf_printf(&e->out, "\"[%lld more]\"", (long long)(length - i));
            break;
        }
        step.index = i;
        element = JS_GetPropertyInt64(e->c, value, i);
        if (JS_IsException(element))
            return could_not_read(e, &step);
        if (JS_IsUndefined(element)) {
            /* A hole and an undefined element look alike in JSON, and both keep their place. */
            failed = dbuf_putstr(&e->out, "null");
            holes++;
        } else {
            failed = encode(e, element, &step, level + 1);
        }
        JS_FreeValue(e->c, element);
        if (failed || e->out.error)
            return -1;
    }
    if (holes)
        note(e, path, "value_changed", "has elements that are undefined, which became null");
    return dbuf_putc(&e->out, ']');
}

/* The own enumerable properties of `value` that have string keys. */
static int encode_members(Encoder *e, JSValueConst value, const Path *path, int level)
{
    Path step = { path, JS_ATOM_NULL, 0, JS_VALUE_GET_PTR(value) };
    JSPropertyEnum *names;
    uint32_t i, count;
    bool first = true;
    int failed = 0;

    if (JS_GetOwnPropertyNames(e->c, &names, &count, value, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return could_not_read(e, path);
    dbuf_putc(&e->out, '{');
    for (i = 0; i < count && !failed; i++) {
        JSValue member = JS_GetProperty(e->c, value, names[i].atom);
        step.key = names[i].atom;
        if (JS_IsException(member)) {
            failed = could_not_read(e, &step);
            break;
        }
        if (JS_IsUndefined(member)) {
            /* As JSON.stringify does, and everybody relies on it. */
        } else if (e->mode == ENCODE_RESULT && (JS_IsFunction(e->c, member) || JS_IsSymbol(member))) {
            note(e, &step, "value_changed", JS_IsSymbol(member) ? "is a symbol, and was left out" : "is a function, and was left out");
        } else {
            if (!first)
                dbuf_putc(&e->out, ',');
            first = false;
            failed = encode_atom(e, names[i].atom, &step);
            dbuf_putc(&e->out, ':');
            failed = failed || encode(e, member, &step, level + 1);
        }
        JS_FreeValue(e->c, member);
        failed = failed || e->out.error;
    }
    JS_FreePropertyEnum(e->c, names, count);
    return failed ? -1 : dbuf_putc(&e->out, '}');
}

/* A Map whose keys are all strings becomes an object, another one a list of pairs; a Set becomes a list. */
static int encode_collection(Encoder *e, JSValueConst value, const Path *path, int level, bool pairs)
{
    JSMapState *map = JS_VALUE_GET_OBJ(value)->u.map_state;
    JSValue list = JS_NewArray(e->c);
    struct list_head *at;
    bool strings = pairs;
    uint32_t count = 0;
    int failed = 0;

    if (JS_IsException(list))
        return -1;
    /* Copied first: encoding an element may run the script, which may change the collection. */
    list_for_each(at, &map->records) {
        JSMapRecord *record = list_entry(at, JSMapRecord, link);
        if (record->empty)
            continue;
        if (pairs) {
            JSValueConst pair[2] = { record->key, record->value };
            strings = strings && JS_IsString(record->key);
            failed = JS_DefinePropertyValueUint32(e->c, list, count++, js_create_array(e->c, 2, pair), JS_PROP_C_W_E) < 0;
        } else {
            failed = JS_DefinePropertyValueUint32(e->c, list, count++, js_dup(record->key), JS_PROP_C_W_E) < 0;
        }
        if (failed)
            break;
    }
    if (!failed && strings) {
        JSValue object = JS_NewObject(e->c);
        uint32_t i;
        for (i = 0; i < count && !failed; i++) {
            JSValue pair = JS_GetPropertyUint32(e->c, list, i);
            JSValue key = JS_GetPropertyUint32(e->c, pair, 0);
            JSAtom atom = JS_ValueToAtom(e->c, key);
            failed = JS_DefinePropertyValue(e->c, object, atom, JS_GetPropertyUint32(e->c, pair, 1), JS_PROP_C_W_E) < 0;
            JS_FreeAtom(e->c, atom);
            JS_FreeValue(e->c, key);
            JS_FreeValue(e->c, pair);
        }
        failed = failed || encode_members(e, object, path, level);
        JS_FreeValue(e->c, object);
    } else {
        failed = failed || encode_elements(e, list, count, path, level);
    }
    JS_FreeValue(e->c, list);
    return failed ? -1 : 0;
}

static int encode_error(Encoder *e, JSValueConst value, const Path *path, int level)
{
    static const char *const names[] = { "name", "message", "code" };
    Path step = { path, JS_ATOM_NULL, 0, JS_VALUE_GET_PTR(value) };
    bool first = true;
    size_t i;

    dbuf_putc(&e->out, '{');
    for (i = 0; i < countof(names); i++) {
        JSValue member = JS_GetPropertyStr(e->c, value, names[i]);
        int failed = JS_IsException(member) ? -1 : 0;
        if (!failed && !JS_IsUndefined(member)) {
            dbuf_printf(&e->out, "%s\"%s\":", first ? "" : ",", names[i]);
            first = false;
            failed = encode(e, member, &step, level + 1);
        }
        JS_FreeValue(e->c, member);
        if (failed)
            return -1;
    }
    return dbuf_putc(&e->out, '}');
}

static int encode_object(Encoder *e, JSValueConst value, const Path *path, int level)
{
    JSObject *p = JS_VALUE_GET_OBJ(value);
    const Path *above;
    JSValue to_json;
    int64_t length;
    int is_array;

    for (above = path; above; above = above->up) {
        if (above->object == p) {
            DynBuf text;
            if (e->mode == ENCODE_SHOW)
                return dbuf_putstr(&e->out, "\"[Circular]\"");
            JS_ThrowTypeError(e->c, "`%s` is circular: it is an object that it lies in", path_text(e, &text, path));
            dbuf_free(&text);
            return -1;
        }
    }
    if (level >= (e->mode == ENCODE_SHOW ? MOST_LEVELS_SHOWN : MOST_LEVELS)) {
        if (e->mode == ENCODE_SHOW)
            return dbuf_putstr(&e->out, "\"[...]\"");
        return refuse(e, NULL, "is nested deeper than 500 levels");
    }
    if (p->class_id == JS_CLASS_PROMISE)
        return no_form(e, path, "Promise", "is a promise: `await` it first");
    if (JS_IsFunction(e->c, value)) {
        if (e->mode == ENCODE_SHOW) {
            JSValue name = JS_GetPropertyStr(e->c, value, "name");
            const char *text = JS_IsString(name) ? JS_ToCString(e->c, name) : NULL;
            DynBuf label;
            JSValue string;
            int failed;
            js_dbuf_init(e->c, &label);
            dbuf_printf(&label, "[function %.60s]", text ? text : "");
            string = JS_NewStringLen(e->c, (const char *)label.buf, label.size);
            dbuf_free(&label);
            JS_FreeCString(e->c, text);
            JS_FreeValue(e->c, name);
            failed = encode_string(e, string, path);
            JS_FreeValue(e->c, string);
            return failed;
        }
        return no_form(e, path, "function", "is a function");
    }

    to_json = JS_GetProperty(e->c, value, JS_ATOM_toJSON);
    if (JS_IsException(to_json))
        return could_not_read(e, path);
    if (JS_IsFunction(e->c, to_json)) {
        Path step = { path, JS_ATOM_NULL, 0, p };
        JSValue key = path && path->key != JS_ATOM_NULL ? JS_AtomToString(e->c, path->key) : JS_AtomToString(e->c, JS_ATOM_empty_string);
        JSValue replaced = JS_Call(e->c, to_json, value, 1, (JSValueConst *)&key);
        int failed;
        JS_FreeValue(e->c, key);
        JS_FreeValue(e->c, to_json);
        if (JS_IsException(replaced))
            return could_not_read(e, path);
        if (p->class_id == JS_CLASS_DATE && JS_IsNull(replaced))
            note(e, path, "value_changed", "is an invalid Date, which became null");
        if (JS_IsUndefined(replaced)) {
            failed = dbuf_putstr(&e->out, "null");
        } else if (JS_IsObject(replaced) && JS_VALUE_GET_OBJ(replaced) != p) {
            failed = encode(e, replaced, &step, level + 1);
        } else if (JS_IsObject(replaced)) {
            failed = encode_members(e, replaced, path, level);
        } else {
            failed = encode(e, replaced, path, level);
        }
        JS_FreeValue(e->c, replaced);
        return failed;
    }
    JS_FreeValue(e->c, to_json);

    p = JS_VALUE_GET_OBJ(value);
    switch (p->class_id) {
    case JS_CLASS_NUMBER:
    case JS_CLASS_STRING:
    case JS_CLASS_BOOLEAN:
    case JS_CLASS_BIG_INT:
        return encode(e, p->u.object_data, path, level);
    case JS_CLASS_MAP:
        return encode_collection(e, value, path, level, true);
    case JS_CLASS_SET:
        return encode_collection(e, value, path, level, false);
    case JS_CLASS_ERROR:
        return encode_error(e, value, path, level);
    case JS_CLASS_REGEXP: {
        JSValue text = JS_ToString(e->c, value);
        int failed = JS_IsException(text) || encode_string(e, text, path);
        JS_FreeValue(e->c, text);
        note(e, path, "value_changed", "is a regular expression, which became its text");
        return failed ? -1 : 0;
    }
    case JS_CLASS_ARRAY_ITERATOR:
    case JS_CLASS_MAP_ITERATOR:
    case JS_CLASS_SET_ITERATOR:
    case JS_CLASS_STRING_ITERATOR:
    case JS_CLASS_REGEXP_STRING_ITERATOR:
    case JS_CLASS_ITERATOR_CONCAT:
    case JS_CLASS_ITERATOR_HELPER:
    case JS_CLASS_ITERATOR_WRAP:
    case JS_CLASS_GENERATOR:
        return no_form(e, path, "iterator", "is an iterator: make it an array with `[...x]`");
    case JS_CLASS_ASYNC_GENERATOR:
        return no_form(e, path, "async iterator", "is an async iterator: read it with `for await`");
    case JS_CLASS_WEAKMAP:
    case JS_CLASS_WEAKSET:
        return no_form(e, path, "weak collection", "is a weak collection, which cannot be read");
    case JS_CLASS_ARRAY_BUFFER: {
        size_t size;
        uint8_t *bytes = JS_GetArrayBuffer(e->c, &size, value);
        return bytes || !size ? encode_base64(e, bytes, size, "ArrayBuffer") : -1;
    }
    case JS_CLASS_DATAVIEW:
        return no_form(e, path, "DataView", "is a DataView: give its bytes as a Uint8Array");
    }
    if (p->class_id >= JS_CLASS_UINT8C_ARRAY && p->class_id <= JS_CLASS_FLOAT64_ARRAY) {
        static const char *const names[] = { "Uint8ClampedArray", "Int8Array", "Uint8Array", "Int16Array", "Uint16Array", "Int32Array",
                                             "Uint32Array", "BigInt64Array", "BigUint64Array", "Float16Array", "Float32Array",
                                             "Float64Array" };
        size_t size = (size_t)p->u.array.count << typed_array_size_log2(p->class_id);
        return encode_base64(e, p->u.array.u.uint8_ptr, size, names[p->class_id - JS_CLASS_UINT8C_ARRAY]);
    }
    is_array = js_is_array(e->c, value); /* a proxy of an array is one */
    if (is_array < 0)
        return could_not_read(e, path);
    if (is_array) {
        if (JS_GetLength(e->c, value, &length))
            return could_not_read(e, path);
        return encode_elements(e, value, length, path, level);
    }
    return encode_members(e, value, path, level);
}

static int encode(Encoder *e, JSValueConst value, const Path *path, int level)
{
    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_NULL:
        return dbuf_putstr(&e->out, "null");
    case JS_TAG_UNDEFINED:
        return no_form(e, path, "undefined", "is undefined");
    case JS_TAG_BOOL:
        return dbuf_putstr(&e->out, JS_VALUE_GET_BOOL(value) ? "true" : "false");
    case JS_TAG_INT:
        return dbuf_printf(&e->out, "%d", JS_VALUE_GET_INT(value));
    case JS_TAG_FLOAT64:
        return encode_number(e, JS_VALUE_GET_FLOAT64(value), path);
    case JS_TAG_STRING:
    case JS_TAG_STRING_ROPE:
        return encode_string(e, value, path);
    case JS_TAG_SHORT_BIG_INT:
    case JS_TAG_BIG_INT: {
        JSValue text;
        int failed;
        if (e->mode == ENCODE_ARGUMENTS)
            return refuse(e, path, "is a BigInt, which JSON does not have: send a number or a string");
        text = JS_ToString(e->c, value);
        failed = JS_IsException(text) || encode_string(e, text, path);
        JS_FreeValue(e->c, text);
        note(e, path, "value_changed", "is a BigInt, which became its text");
        return failed ? -1 : 0;
    }
    case JS_TAG_SYMBOL:
        return no_form(e, path, "symbol", "is a symbol");
    case JS_TAG_OBJECT:
        if (js_check_stack_overflow(e->c->rt, 4096)) {
            JS_ThrowStackOverflow(e->c);
            return -1;
        }
        return encode_object(e, value, path, level);
    default:
        return no_form(e, path, "value", "has no JSON form");
    }
}

/* native.encode(value, mode, root): JSON as a string, or undefined when there is nothing. */
static JSValue native_encode(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv)
{
    Encoder e = { .c = c };
    JSValue text;
    uint32_t mode;
    const char *root;

    if (argc < 3 || JS_ToUint32(c, &mode, argv[1]))
        return JS_EXCEPTION;
    e.mode = mode;
    if (mode == ENCODE_RESULT && JS_IsUndefined(argv[0]))
        return JS_UNDEFINED;
    root = JS_ToCString(c, argv[2]);
    if (!root)
        return JS_EXCEPTION;
    e.root = root;
    js_dbuf_init(c, &e.out);
    text = encode(&e, argv[0], NULL, 0) || e.out.error ? JS_EXCEPTION : JS_NewStringLen(c, (const char *)e.out.buf, e.out.size);
    if (JS_IsException(text) && !JS_HasException(c))
        JS_ThrowOutOfMemory(c);
    dbuf_free(&e.out);
    JS_FreeCString(c, root);
    return text;
}
