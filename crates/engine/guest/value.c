/* Values that come to life when they are touched.
 *
 * The host hands a large result over in a compact form (value.rs has the other half and the layout). Arrays become real arrays at
 * once; each object in them is a small placeholder of the class `lazy_class`, which knows where its fields lie. Reading a field that holds a
 * primitive decodes just that one. Anything else (a nested value, a write, a listing of keys, a symbol of one's own) wakes the
 * object: it gets its properties and turns into a plain object in place. After that nothing tells it from one that JSON.parse made.
 *
 * Invariants
 *   - An object is either asleep (lazy_class, is_exotic) or plain. Waking cannot be undone.
 *   - A sleeping object holds a reference to its buffer; waking or dying gives it back.
 *   - The bytes come from our own host, which made them from valid JSON, so they are not checked again here. */

enum { V_NULL, V_FALSE, V_TRUE, V_INT, V_FLOAT, V_LATIN1, V_UTF16, V_ARRAY, V_OBJECT };

/* The keys of objects that have the same keys in the same order. */
typedef struct {
    uint32_t count;
    bool plain;     /* no key twice, and none that looks like an index (those come first whatever the order) */
    JSAtom *atoms;
    JSShape *shape; /* made when the first object of this kind wakes */
} Keys;

typedef struct {
    uint32_t references;
    uint8_t *bytes;
    uint32_t keys_count;
    Keys *keys;
} Buffer;

/* How often a string of a sleeping object is decoded, or a field far back is looked for, before the object wakes to keep what it has. */
#define DEAR_READS_BEFORE_WAKING 2
#define FAR_BACK 32

static JSValue decode(JSContext *c, Buffer *buffer, const uint8_t **at);

static uint32_t u32_at(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static Buffer *buffer_of(JSObject *p)
{
    return p->u.array.u.ptr;
}

static void release_buffer(JSRuntime *r, Buffer *buffer)
{
    uint32_t i, j;
    if (--buffer->references)
        return;
    for (i = 0; i < buffer->keys_count; i++) {
        Keys *keys = &buffer->keys[i];
        for (j = 0; j < keys->count; j++)
            JS_FreeAtomRT(r, keys->atoms[j]);
        js_free_rt(r, keys->atoms);
        if (keys->shape)
            js_free_shape(r, keys->shape);
    }
    js_free_rt(r, buffer->keys);
    js_free_rt(r, buffer->bytes);
    js_free_rt(r, buffer);
}

/* Steps over one value. */
static const uint8_t *skip(const uint8_t *p)
{
    switch (*p++) {
    case V_INT: return p + 4;
    case V_FLOAT: return p + 8;
    case V_LATIN1: return p + 4 + u32_at(p);
    case V_UTF16: return p + 4 + 2 * u32_at(p);
    case V_ARRAY:
    case V_OBJECT: return p + 8 + u32_at(p + 4);
    default: return p;
    }
}

static JSValue new_sleeper(JSContext *c, Buffer *buffer, const uint8_t *row)
{
    JSValue value = JS_NewObjectClass(c, lazy_class);
    if (!JS_IsException(value)) {
        JSObject *p = JS_VALUE_GET_OBJ(value);
        buffer->references++;
        p->u.opaque = (void *)row;
        p->u.array.u.ptr = buffer;
        p->u.array.count = 0;
    }
    return value;
}

/* Defines the fields one by one, for keys whose order or number is not what it seems, or an object that has got properties
 * of its own by a way that does not wake it. */
static int define_fields(JSContext *c, JSValueConst object, Keys *keys, Buffer *buffer, const uint8_t *at)
{
    uint32_t i;
    for (i = 0; i < keys->count; i++) {
        JSValue value = decode(c, buffer, &at);
        if (JS_IsException(value) || JS_DefinePropertyValue(c, object, keys->atoms[i], value, JS_PROP_C_W_E) < 0)
            return -1;
    }
    return 0;
}

static int rf_wake(JSContext *c, JSObject *p)
{
    const uint8_t *row = p->u.opaque;
    Buffer *buffer = buffer_of(p);
    Keys *keys = &buffer->keys[u32_at(row)];
    const uint8_t *at = row + 8;
    JSProperty *properties;
    uint32_t i;
    int failed = 0;

    /* Plain from here on, so that what runs below does not come back to it. */
    p->class_id = JS_CLASS_OBJECT;
    p->is_exotic = 0;
    p->u.opaque = NULL;
    if (!keys->plain || p->shape->prop_count || p->shape->proto != JS_VALUE_GET_OBJ(c->class_proto[JS_CLASS_OBJECT])) {
        bool extensible = p->extensible;
        p->extensible = true;
        failed = define_fields(c, JS_MKPTR(JS_TAG_OBJECT, p), keys, buffer, at);
        p->extensible = extensible;
        goto done;
    }
    if (!keys->shape) {
        JSValue first = JS_NewObject(c);
        failed = JS_IsException(first) ? -1 : define_fields(c, first, keys, buffer, at);
        if (failed) {
            JS_FreeValue(c, first);
            goto done;
        }
        keys->shape = js_dup_shape(JS_VALUE_GET_OBJ(first)->shape);
        JS_FreeValue(c, first);
    }
    properties = js_malloc(c, sizeof(*properties) * keys->shape->prop_size);
    if (!properties) {
        failed = -1;
        goto done;
    }
    for (i = 0; i < keys->count; i++) {
        properties[i].u.value = decode(c, buffer, &at);
        if (JS_IsException(properties[i].u.value)) {
            while (i--)
                JS_FreeValue(c, properties[i].u.value);
            js_free(c, properties);
            failed = -1;
            goto done;
        }
    }
    js_free(c, p->prop);
    p->prop = properties;
    js_free_shape(c->rt, p->shape);
    p->shape = js_dup_shape(keys->shape);
done:
    release_buffer(c->rt, buffer);
    return failed;
}

static JSValue decode_array(JSContext *c, Buffer *buffer, uint32_t count, const uint8_t *at)
{
    uint32_t i;
    JSValue array = js_allocate_fast_array(c, count); /* filled with undefined, so the collector may look at any moment */
    if (JS_IsException(array))
        return array;
    for (i = 0; i < count; i++) {
        JSValue value = decode(c, buffer, &at);
        if (JS_IsException(value)) {
            JS_FreeValue(c, array);
            return value;
        }
        JS_VALUE_GET_OBJ(array)->u.array.u.values[i] = value;
    }
    return array;
}

/* Decodes one value and steps over it. */
static JSValue decode(JSContext *c, Buffer *buffer, const uint8_t **at)
{
    const uint8_t *p = *at;
    *at = skip(p);
    switch (*p++) {
    case V_FALSE: return JS_FALSE;
    case V_TRUE: return JS_TRUE;
    case V_INT: return js_int32(u32_at(p));
    case V_FLOAT: {
        double number;
        memcpy(&number, p, 8);
        return js_float64(number);
    }
    case V_LATIN1: {
        uint32_t length = u32_at(p);
        return length ? js_new_string8_len(c, (const char *)p + 4, length) : JS_AtomToString(c, JS_ATOM_empty_string);
    }
    case V_UTF16: {
        uint32_t length = u32_at(p);
        JSString *string = js_alloc_string(c, length, 1);
        if (!string)
            return JS_EXCEPTION;
        memcpy(str16(string), p + 4, 2 * length); /* not aligned here */
        return JS_MKPTR(JS_TAG_STRING, string);
    }
    case V_ARRAY: return decode_array(c, buffer, u32_at(p), p + 8);
    case V_OBJECT: return buffer->keys[u32_at(p)].count ? new_sleeper(c, buffer, p) : JS_NewObject(c);
    default: return JS_NULL;
    }
}

static int lazy_get_own_property(JSContext *c, JSPropertyDescriptor *descriptor, JSValueConst object, JSAtom name)
{
    JSObject *p = JS_VALUE_GET_OBJ(object);
    return rf_wake(c, p) ? -1 : JS_GetOwnPropertyInternal(c, descriptor, p, name);
}

static int lazy_delete_property(JSContext *c, JSValueConst object, JSAtom name)
{
    JSObject *p = JS_VALUE_GET_OBJ(object);
    return rf_wake(c, p) ? -1 : delete_property(c, p, name);
}

static int lazy_define_own_property(JSContext *c, JSValueConst object, JSAtom name, JSValueConst value, JSValueConst getter,
                                    JSValueConst setter, int flags)
{
    return rf_wake(c, JS_VALUE_GET_OBJ(object)) ? -1 : JS_DefineProperty(c, object, name, value, getter, setter, flags);
}

static int lazy_has_property(JSContext *c, JSValueConst object, JSAtom name)
{
    return rf_wake(c, JS_VALUE_GET_OBJ(object)) ? -1 : JS_HasProperty(c, object, name);
}

static int lazy_set_property(JSContext *c, JSValueConst object, JSAtom name, JSValueConst value, JSValueConst receiver, int flags)
{
    if (rf_wake(c, JS_VALUE_GET_OBJ(object)))
        return -1;
    return JS_SetPropertyInternal2(c, object, name, js_dup(value), receiver, flags);
}

static JSValue lazy_get_property(JSContext *c, JSValueConst object, JSAtom name, JSValueConst receiver)
{
    JSObject *p = JS_VALUE_GET_OBJ(object);
    const uint8_t *row = p->u.opaque;
    Buffer *buffer = buffer_of(p);
    Keys *keys = &buffer->keys[u32_at(row)];
    const uint8_t *at = row + 8;
    uint32_t i;

    if (keys->plain && !p->shape->prop_count) {
        if (p->u.array.count == DEAR_READS_BEFORE_WAKING && keys->count > FAR_BACK)
            goto wake;
        for (i = 0; i < keys->count && keys->atoms[i] != name; i++)
            at = skip(at);
        if (i > FAR_BACK)
            p->u.array.count++;
        if (i == keys->count) {
            JSObject *prototype = p->shape->proto;
            return prototype ? JS_GetPropertyInternal(c, JS_MKPTR(JS_TAG_OBJECT, prototype), name, receiver, false) : JS_UNDEFINED;
        }
        switch (*at) {
        case V_LATIN1:
        case V_UTF16:
            if (p->u.array.count >= DEAR_READS_BEFORE_WAKING)
                break;
            if (i <= FAR_BACK)
                p->u.array.count++;
            return decode(c, buffer, &at);
        case V_ARRAY:
        case V_OBJECT:
            break; /* the same object every time, so it has to be kept */
        default:
            return decode(c, buffer, &at);
        }
    }
wake:
    if (rf_wake(c, p))
        return JS_EXCEPTION;
    return JS_GetPropertyInternal(c, object, name, receiver, false);
}

static void lazy_finalizer(JSRuntime *r, JSValueConst object)
{
    Buffer *buffer = buffer_of(JS_VALUE_GET_OBJ(object));
    if (buffer)
        release_buffer(r, buffer);
}

static const JSClassExoticMethods lazy_methods = {
    .get_own_property = lazy_get_own_property,
    .delete_property = lazy_delete_property,
    .define_own_property = lazy_define_own_property,
    .has_property = lazy_has_property,
    .get_property = lazy_get_property,
    .set_property = lazy_set_property,
};

static int define_lazy_class(void)
{
    JSClassDef definition = { "Object", .finalizer = lazy_finalizer, .exotic = (JSClassExoticMethods *)&lazy_methods };
    JSClassID id = 0;
    JS_NewClassID(rt, &id);
    lazy_class = id;
    if (JS_NewClass(rt, lazy_class, &definition))
        return -1;
    JS_SetClassProto(ctx, lazy_class, JS_DupValue(ctx, ctx->class_proto[JS_CLASS_OBJECT]));
    return 0;
}

/* Takes over `bytes` (from rf_allocate), and gives its root value. Layout: offset of the tables, the root value, the tables: number of
 * keys, each its length and UTF-8; number of key lists, each its length, whether it is plain, and indices of keys. */
static JSValue value_of_compact(uint8_t *bytes)
{
    const uint8_t *at = bytes + u32_at(bytes), *root = bytes + 4;
    uint32_t i, j, atoms_count = u32_at(at);
    JSAtom *atoms = js_malloc(ctx, sizeof(*atoms) * (atoms_count + 1));
    Buffer *buffer = js_mallocz(ctx, sizeof(*buffer));
    JSValue value;

    buffer->references = 1;
    buffer->bytes = bytes;
    at += 4;
    for (i = 0; i < atoms_count; i++) {
        uint32_t length = u32_at(at);
        atoms[i] = JS_NewAtomLen(ctx, (const char *)at + 4, length);
        at += 4 + length;
    }
    buffer->keys_count = u32_at(at);
    buffer->keys = js_mallocz(ctx, sizeof(*buffer->keys) * (buffer->keys_count + 1));
    at += 4;
    for (i = 0; i < buffer->keys_count; i++) {
        Keys *keys = &buffer->keys[i];
        keys->count = u32_at(at);
        keys->plain = u32_at(at + 4);
        keys->atoms = js_malloc(ctx, sizeof(*keys->atoms) * (keys->count + 1));
        at += 8;
        for (j = 0; j < keys->count; j++, at += 4)
            keys->atoms[j] = JS_DupAtom(ctx, atoms[u32_at(at)]);
    }
    for (i = 0; i < atoms_count; i++)
        JS_FreeAtom(ctx, atoms[i]);
    js_free(ctx, atoms);
    value = decode(ctx, buffer, &root);
    release_buffer(rt, buffer);
    return value;
}
