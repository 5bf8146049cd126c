// The script environment, run once when the template is made. Its value is a function that the shim calls with the native
// functions, and that returns the hooks which the shim calls later.
//
// Everything that exists when this is done is frozen (shim.c), so a script can change no built-in and nothing in here. Its own
// values can still do what they like (getters, proxies, iterators of its own), so what comes from a script is only touched where said.
(native) => {
  "use strict";
  const { call: emitCall, encode, exit: endScript, isBase64, output } = native;
  const { create, defineProperty, defineProperties, freeze } = Object;
  const { apply, ownKeys } = Reflect;
  const { isArray } = Array;
  const { includes, indexOf, slice, split, startsWith, trim } = String.prototype;
  const { floor, max, min } = Math;
  const { iterator, toPrimitive } = Symbol;
  const parse = JSON.parse;
  const text = String;
  // The global object itself stays open, so a script can put something else under these names.
  const ThisError = Error;
  const ThisMap = Map;
  const ThisPromise = Promise;
  const ThisProxy = Proxy;
  const ThisRangeError = RangeError;
  const ThisTypeError = TypeError;

  // Kinds of output; sandbox.rs has all of them, too.
  const LOG = 0;
  const TEXT = 1;
  const IMAGE = 2;
  const NOTE = 3;
  const PROGRESS = 4;
  const STORE = 5;
  // Modes of `encode`; encode.c has the same list.
  const AS_RESULT = 0;
  const AS_ARGUMENTS = 1;
  const TO_SHOW = 2;

  const hide = (object, name, value) =>
    defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });

  class ToolError extends ThisError {
    constructor(fields) {
      super(fields.message);
      hide(this, "code", fields.code);
      hide(this, "tool", fields.tool);
      hide(this, "call", fields.call);
      hide(this, "retryable", fields.retryable === true);
      hide(this, "retryAfterMs", fields.retryAfterMs);
      hide(this, "data", fields.data);
    }

    // The fields are hidden, as those of every error are, and what scripts log of an error is most often its JSON.
    toJSON() {
      const { name, message, code, tool, call, retryable, retryAfterMs, data } = this;
      return { name, message, code, tool, call, retryable, retryAfterMs, data };
    }
  }
  hide(ToolError.prototype, "name", "ToolError");

  // The lines of a stack that are the script's. Frames of this file and of the engine say nothing to its author.
  const ownFrames = (stack) => {
    if (typeof stack !== "string") return "";
    const lines = apply(split, apply(slice, stack, [0, 20000]), ["\n"]);
    let kept = "";
    for (let i = 0; i < lines.length; i++) {
      if (apply(includes, lines[i], ["script:"])) kept += `    at ${apply(slice, apply(trim, lines[i], []), [3])}\n`;
    }
    return kept;
  };

  const show = (value) => {
    try {
      if (typeof value === "string") return value;
      if (value instanceof ThisError) return `${text(value)}\n${ownFrames(value.stack)}`;
      if (typeof value === "object" && value !== null) return encode(value, TO_SHOW, "value");
      return text(value);
    } catch {
      return "[a value that cannot be shown]";
    }
  };
  const showAll = (values) => {
    let line = "";
    for (let i = 0; i < values.length; i++) line += (i ? " " : "") + show(values[i]);
    return line;
  };

  // What is longer than all output together is cut here: a copy of it, as JSON and as bytes, would cost memory for nothing.
  let room = 1 << 20;
  const short = (line) => (line.length > room ? apply(slice, line, [0, room]) : line);
  // The message of an error: nobody reads more, and all of it is told, with the name and the lines.
  const readable = (message) => (message.length > 16384 ? `${apply(slice, message, [0, 16384])}... (${message.length} characters)` : message);

  // ---- calls ----

  const rejected = (error) => new ThisPromise((_, reject) => reject(error));

  const invoke = (source, tool, args) => {
    let json;
    try {
      json = args === undefined ? "{}" : encode(args, AS_ARGUMENTS, "arguments");
    } catch (cause) {
      const path = `${source}.${tool}`;
      const message = `the arguments of \`${path}\` cannot be sent: ${cause instanceof ThisError ? cause.message : show(cause)}`;
      return rejected(new ToolError({ code: "invalid_arguments", message, tool: path }));
    }
    return emitCall(encode([source, tool], TO_SHOW, "target"), json);
  };
  // A function of ours and no tool: its target is a name alone, which no property of `tools` can be.
  const own = (name, args) => {
    try {
      return emitCall(encode(name, TO_SHOW, "target"), encode(args, AS_ARGUMENTS, "arguments"));
    } catch (cause) {
      const message = `\`${name}\` cannot be called so: ${cause instanceof ThisError ? cause.message : show(cause)}`;
      return rejected(new ToolError({ code: "invalid_arguments", message, tool: name }));
    }
  };

  // ---- tools ----

  // Names that the language, or a printer of values, asks every object for. A tool of such a name is still found, since it is listed.
  const askedByTheLanguage = freeze({
    __proto__: null, then: 1, catch: 1, toJSON: 1, inspect: 1, prototype: 1, length: 1,
    hasOwnProperty: 1, isPrototypeOf: 1, propertyIsEnumerable: 1, toLocaleString: 1, nodeType: 1,
  });

  const readOnly = (what) => () => {
    throw new ThisTypeError(`${what} cannot be changed`);
  };
  // An object of functions that are made when first asked for. `unknown` gives what an unlisted name is.
  const lookup = (what, names, make, unknown) => {
    const made = create(null);
    const known = create(null);
    for (let i = 0; i < names.length; i++) known[names[i]] = true;
    const asText = freeze(() => `[${what}]`);
    const get = (_, key) => {
      if (key === toPrimitive) return asText;
      if (typeof key === "symbol" || (known[key] !== true && askedByTheLanguage[key] === 1)) return undefined;
      if (made[key] === undefined) made[key] = known[key] === true ? make(key) : unknown(key);
      return made[key];
    };
    return new ThisProxy(create(null), {
      get,
      has: (_, key) => known[key] === true,
      ownKeys: () => ownKeys(known),
      getOwnPropertyDescriptor: (_, key) =>
        known[key] === true ? { value: get(_, key), enumerable: true, configurable: true, writable: false } : undefined,
      set: readOnly(what),
      defineProperty: readOnly(what),
      deleteProperty: readOnly(what),
      setPrototypeOf: readOnly(what),
      preventExtensions: readOnly(what),
    });
  };

  const tool = (source, name) => {
    const call = (args) => invoke(source, name, args);
    defineProperties(call, { name: { value: name }, length: { value: 1 } });
    return freeze(call);
  };

  // A namespace that does not exist, or a flat name that does not: any use of it is a call that the host refuses with the nearest names.
  const nestedTools = (listed) => {
    const sources = create(null);
    for (const source of ownKeys(listed)) sources[source] = listed[source];
    const namespace = (source) => lookup(`\`tools.${source}\``, sources[source] ?? [], (name) => tool(source, name), (name) => tool(source, name));
    // `tools.mcp__source__tool` is the name that other systems taught for `tools.source.tool`.
    const isFlat = (key) => apply(startsWith, key, ["mcp__"]);
    return lookup("`tools`", ownKeys(sources), namespace, (key) => (isFlat(key) ? tool("tools", key) : namespace(key)));
  };
  const flatTools = (root, names, extra) => {
    const target = (key) => tool(names[key][0], names[key][1]);
    return lookup(`\`${root}\``, ownKeys(names), target, (key) => extra[key] ?? tool(root, key));
  };

  // ---- globals ----

  const console = {};
  for (const level of ["log", "info", "warn", "error", "debug"]) {
    console[level] = (...values) => {
      output(LOG, encode({ level, text: short(showAll(values)) }, TO_SHOW, "log"));
    };
  }
  console.trace = console.table = console.dir = console.group = console.log;
  console.groupEnd = console.time = console.timeEnd = () => {};
  console.assert = (holds, ...values) => {
    if (!holds) console.error("assertion failed:", ...values);
  };

  const number = (value, what) => {
    const n = +value;
    if (!(n >= 0)) throw new ThisRangeError(`${what} takes a number of milliseconds, not ${show(value)}`);
    return n;
  };
  const sleep = (ms) => own("sleep", { ms: number(ms, "sleep") });
  // As browsers do: no time, or one that makes no sense, is none.
  const delay = (ms) => (+ms >= 0 ? +ms : 0);

  let nextTimer = 0;
  const timers = new ThisMap();
  const setTimeout = (callback, ms = 0, ...args) => {
    if (typeof callback !== "function") throw new ThisTypeError("setTimeout takes a function");
    const id = ++nextTimer;
    timers.set(id, true);
    own("sleep", { ms: delay(ms) }).then(() => {
      if (timers.delete(id)) apply(callback, undefined, args);
    });
    return id;
  };
  const setInterval = (callback, ms = 0, ...args) => {
    if (typeof callback !== "function") throw new ThisTypeError("setInterval takes a function");
    const id = ++nextTimer;
    const pause = delay(ms);
    timers.set(id, true);
    const again = () =>
      own("sleep", { ms: pause }).then(() => {
        if (!timers.has(id)) return;
        again();
        apply(callback, undefined, args);
      });
    again();
    return id;
  };
  const clearTimeout = (id) => {
    timers.delete(id);
  };

  const session = new ThisMap();
  // What is to be left in the store of the session when the script ends well, and what must be there for that: a value, or
  // undefined where nothing may be.
  const written = new ThisMap();
  const guards = new ThisMap();
  let storeValue = 0;
  let storeAll = 0;
  let storeUsed = 0;
  const storeKey = (key) => {
    if (typeof key !== "string") throw new ThisTypeError(`a key of the store is a string, not ${show(key)}`);
    return key;
  };

  const size = (key, json) => (json === undefined ? 0 : key.length + json.length);
  const kib = (characters) => `${floor(characters / 1024)} KiB`;
  const put = (key, json) => {
    const more = size(key, json);
    if (more > storeValue) {
      throw new ThisRangeError(`\`${short(key)}\` is too large for the store: ${kib(more)}, and one value may have ${kib(storeValue)} (\`store_kb\`); keep less of it`);
    }
    const used = storeUsed - size(key, session.get(key)) + more;
    if (used > storeAll) {
      throw new ThisRangeError(`the store of the session is full: with \`${short(key)}\` it would have ${kib(used)}, and may have ${kib(storeAll)} (four times \`store_kb\`); delete keys with \`store(key, undefined)\``);
    }
    storeUsed = used;
    if (json === undefined) session.delete(key);
    else session.set(key, json);
    written.set(key, json);
  };
  // Said once, at the end: what a script that fails stores is not kept, and one that stores in a loop says it once.
  const leave = () => {
    written.forEach((json, key) => {
      const entry = { __proto__: null, key, json: json ?? null };
      if (guards.has(key)) entry.guard = { was: guards.get(key) ?? null };
      output(STORE, encode(entry, TO_SHOW, "store"));
    });
  };

  const parallel = async (items, work, { concurrency = 8 } = {}) => {
    if (typeof work !== "function" || typeof items?.[iterator] !== "function") {
      throw new ThisTypeError(`parallel takes the items, a function, and { concurrency }; its items are ${show(items)}`);
    }
    const all = [...items];
    const settled = [];
    settled.length = all.length;
    let next = 0;
    const worker = async () => {
      while (next < all.length) {
        const index = next++;
        try {
          settled[index] = { status: "fulfilled", value: await work(all[index], index) };
        } catch (reason) {
          settled[index] = { status: "rejected", reason };
        }
      }
    };
    const workers = [];
    for (let i = 0; i < min(max(1, floor(+concurrency) || 1), all.length); i++) workers[i] = worker();
    for (let i = 0; i < workers.length; i++) await workers[i];
    return settled;
  };

  // An MCP image or audio block, or a data: URL.
  const image = (picture) => {
    let mimeType, data;
    if (typeof picture === "string") {
      const comma = apply(indexOf, picture, [","]);
      const head = apply(slice, picture, [0, comma]);
      if (!apply(startsWith, head, ["data:"]) || !apply(includes, head, [";base64"])) {
        throw new ThisTypeError("image takes an MCP image block, or a data:image/…;base64 URL");
      }
      mimeType = apply(split, apply(slice, head, [5]), [";"])[0];
      data = apply(slice, picture, [comma + 1]);
    } else if (typeof picture === "object" && picture !== null) {
      ({ mimeType, data } = picture); // looked at once: a getter may answer otherwise the next time
    }
    if (typeof data !== "string" || typeof mimeType !== "string") {
      throw new ThisTypeError("image takes an MCP image block, { type: \"image\", mimeType, data }, or a data: URL");
    }
    const kind = apply(startsWith, mimeType, ["audio/"]) ? "audio" : "image";
    if (!apply(startsWith, mimeType, [kind + "/"])) throw new ThisTypeError(`image takes a mimeType like "image/png", not ${show(mimeType)}`);
    if (!isBase64(data)) throw new ThisTypeError("the data of an image is base64, which this is not");
    output(IMAGE, `{"type":"${kind}","mimeType":${encode(mimeType, TO_SHOW, "image")},"data":"${data}"}`);
  };

  const globals = {
    ToolError,
    console,
    text: (...values) => output(TEXT, short(showAll(values))),
    image,
    exit: () => {
      leave();
      endScript();
    },
    sleep,
    setTimeout,
    clearTimeout,
    setInterval,
    clearInterval: clearTimeout,
    queueMicrotask: (callback) => {
      new ThisPromise((resolve) => resolve()).then(() => callback());
    },
    // Also with the query among the options, as other systems have it.
    searchTools: (query, options) => own("searchTools", typeof query === "object" && query !== null ? { ...query } : { query, ...options }),
    describeTools: (names) => own("describeTools", { names: isArray(names) ? names : [names] }),
    describeByName: (names) => own("describeTools", { names: isArray(names) ? names : [names], by: "name" }),
    describeTool: async (name) => (await own("describeTools", { names: [name] }))[0],
    describeNamespace: (namespace) => own("describeTools", { names: [], namespace }),
    ask: (question, options) => own("ask", { question, ...options }),
    progress: (fraction, message) => output(PROGRESS, encode({ fraction: +fraction || 0, message: message === undefined ? null : show(message) }, TO_SHOW, "progress")),
    parallel,
    store: (key, value) => put(storeKey(key), value === undefined ? undefined : encode(value, AS_RESULT, `store(${show(key)})`)),
    compareAndStore: (key, expected, value) => {
      const was = session.get(storeKey(key));
      const isOwn = written.has(key);
      if ((expected === undefined ? undefined : encode(expected, AS_RESULT, "expected")) !== was) return false;
      put(key, value === undefined ? undefined : encode(value, AS_RESULT, `compareAndStore(${show(key)})`));
      // What counts is what the run found; its own writes are its own.
      if (!isOwn) guards.set(key, was);
      return true;
    },
    load: (key) => {
      const json = session.get(storeKey(key));
      return json === undefined ? undefined : parse(json);
    },
  };

  // Each is said once: a script does it in a loop.
  const said = new ThisMap();
  const note = (kind, about, message) => {
    if (said.has(about)) return;
    said.set(about, true);
    output(NOTE, encode({ kind, message, site: ownFrames(new ThisError().stack) }, TO_SHOW, "note"));
  };
  // What takes the place of a built-in looks like it. `this` is as strict as there.
  const replace = (holder, name, length, method) => {
    defineProperties(method, { name: { value: name }, length: { value: length } });
    defineProperty(holder, name, { value: method });
  };

  defineProperty(JSON, "parse", { value: native.parse });

  // There is one locale, and no `Intl`: what is asked of one is not done, which is nothing to be silent about.
  const blind = (holder, name, first) => {
    const plain = holder[name];
    replace(holder, name, plain.length, {
      blind(a, b, c) {
        if ((first === 0 ? a : b) !== undefined || (first === 0 ? b : c) !== undefined) {
          note("locale_ignored", name, `\`${name}\` knows no locales, time zones or options here: it gives one form, in UTC; write what else is wanted by hand`);
        }
        return apply(plain, this, first === 0 ? [] : [a]);
      },
    }.blind);
  };
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) blind(Date.prototype, name, 0);
  blind(Number.prototype, "toLocaleString", 0);
  blind(String.prototype, "localeCompare", 1);

  for (const name of ["SharedArrayBuffer", "Atomics", "gc"]) delete globalThis[name];
  // V8's way to a stack: it would show the functions of this file, and could leave an error without its lines.
  delete Error.prepareStackTrace;
  delete Error.stackTraceLimit;
  Error.captureStackTrace = (target) => {
    hide(target, "stack", new ThisError().stack);
  };
  for (const name of ownKeys(globals)) hide(globalThis, name, globals[name]);
  const env = { setTimeout };
  for (const library of native.libraries) {
    const made = library(env);
    for (const name of ownKeys(made)) hide(globalThis, name, made[name]);
  }

  // The errors that an error stands for, or comes from.
  const causes = (thrown) => {
    let told = "";
    if (isArray(thrown.errors)) {
      for (let i = 0; i < min(thrown.errors.length, 5); i++) told += `${told === "" ? "" : "; "}${brief(thrown.errors[i])}`;
    }
    let cause = thrown.cause;
    for (let depth = 0; cause !== undefined && depth < 5; depth++) {
      told += `; caused by ${brief(cause)}`;
      cause = cause?.cause;
    }
    return told;
  };
  const brief = (value) => apply(split, show(value), ["\n"])[0];

  return {
    // facts: {"args": any, "tools": {source: [names]}, "store": {key: JSON text}, "storeRoom": {"value", "all": characters}, "room": number of bytes of output, "flat"?: {name: [source, tool]},
    //         "dialect": {"root": name, "flat": bool, "members"?: {name: global}, "globals"?: {name: global}, "values"?: {name: any}}}
    begin(facts) {
      hide(globalThis, "args", facts.args);
      const { dialect } = facts;
      if (facts.room) room = facts.room;
      for (const key of ownKeys(facts.store ?? {})) {
        session.set(key, facts.store[key]);
        storeUsed += key.length + facts.store[key].length;
      }
      ({ value: storeValue, all: storeAll } = facts.storeRoom ?? { value: 262144, all: 1048576 });
      const members = create(null);
      for (const name in dialect?.members ?? {}) members[name] = globals[dialect.members[name]];
      const tools = dialect?.flat ? flatTools(dialect.root, facts.flat, members) : nestedTools(facts.tools);
      defineProperty(globalThis, dialect?.root ?? "tools", { value: tools, writable: false, configurable: false, enumerable: true });
      for (const name in dialect?.globals ?? {}) hide(globalThis, name, globals[dialect.globals[name]]);
      for (const name in dialect?.values ?? {}) hide(globalThis, name, dialect.values[name]);
    },

    result: (value) => {
      const json = encode(value, AS_RESULT, "result");
      leave();
      return json;
    },

    show,

    failure(fields, site) {
      const error = new ToolError(fields);
      hide(error, "stack", site);
      return error;
    },

    // {"name"?, "message", "stack", "tool"?: {code, tool, call}, "overflow"?: true}
    threw(thrown, site) {
      const out = { __proto__: null };
      if (thrown instanceof ThisError) {
        out.name = show(thrown.name);
        const message = show(thrown.message);
        const more = causes(thrown);
        out.message = readable(message + (message !== "" && isArray(thrown.errors) ? ": " : "") + more);
        out.stack = ownFrames(thrown.stack);
        if (thrown instanceof ToolError) out.tool = { code: thrown.code, tool: thrown.tool, call: thrown.call };
        if (thrown instanceof ThisRangeError && apply(startsWith, out.message, ["Maximum call stack size exceeded"])) out.overflow = true;
      } else {
        out.message = readable(show(thrown));
        out.stack = site;
      }
      return encode(out, TO_SHOW, "error");
    },
  };
}
