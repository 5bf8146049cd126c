// The script environment, run once when the template is made. Its value is a function that the shim calls with the two
// native functions and that returns the hooks which the shim calls later.
//
// A script may change any built-in. So everything this file uses after the script has started is taken into a constant
// here, before it.
(native) => {
  "use strict";
  const { call: emitCall, output } = native;
  const { stringify } = JSON;
  const { create, defineProperty, defineProperties, freeze, keys } = Object;
  const { apply, ownKeys } = Reflect;
  const { isFinite } = Number;
  const { join } = Array.prototype;
  const { split, startsWith, includes, slice, trim } = String.prototype;
  const ThisPromise = Promise;
  const ThisProxy = Proxy;
  const ThisError = Error;
  const ThisTypeError = TypeError;
  const ThisRangeError = RangeError;
  const text = String;

  // Kinds of output; sandbox.rs has the same list.
  const LOG = 0;
  const TEXT = 1;

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
  }
  hide(ToolError.prototype, "name", "ToolError");

  // The lines of a stack that are the script's. Frames of this file and of the engine say nothing to its author.
  const ownFrames = (stack) => {
    if (typeof stack !== "string") return "";
    const lines = apply(split, stack, ["\n"]);
    let kept = "";
    for (let i = 0; i < lines.length; i++) {
      if (apply(includes, lines[i], ["script:"])) kept += `    at ${apply(slice, apply(trim, lines[i], []), [3])}\n`;
    }
    return kept;
  };

  const show = (value) => {
    try {
      if (typeof value === "string") return value;
      if (value instanceof ThisError) return text(value.stack ? `${value}\n${ownFrames(value.stack)}` : value);
      if (typeof value === "object" && value !== null) {
        const json = stringify(value, (_, inner) => (typeof inner === "bigint" ? text(inner) : inner));
        if (json !== undefined) return json;
      }
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

  // Arguments are strict: what JSON would change or drop without a word is refused instead.
  const strictly = (key, value) => {
    if (typeof value === "bigint") throw new ThisTypeError(`\`${key}\` is a BigInt, which JSON does not have`);
    if (typeof value === "number" && !isFinite(value)) throw new ThisTypeError(`\`${key}\` is ${value}, which JSON does not have`);
    return value;
  };

  const invoke = (source, tool, args) => {
    const site = ownFrames(new ThisError().stack);
    let json;
    try {
      json = args === undefined ? "{}" : stringify(args, strictly);
      if (json === undefined) throw new ThisTypeError(`a ${typeof args} cannot be sent`);
    } catch (cause) {
      const error = new ToolError({
        code: "invalid_arguments",
        message: `the arguments of \`${source}.${tool}\` cannot be sent: ${show(cause?.message)}`,
        tool: `${source}.${tool}`,
      });
      return new ThisPromise((_, reject) => reject(error));
    }
    return emitCall(stringify([source, tool]), json, site);
  };

  // Names that the language itself asks every object for. A tool of such a name is still found, since it is listed.
  const askedByTheLanguage = freeze({ __proto__: null, then: 1, toJSON: 1, constructor: 1, toString: 1, valueOf: 1, inspect: 1, prototype: 1 });

  const readOnly = (what) => () => {
    throw new ThisTypeError(`${what} cannot be changed`);
  };
  const lookup = (what, names, make) => {
    const made = create(null);
    const known = create(null);
    for (let i = 0; i < names.length; i++) known[names[i]] = true;
    const get = (_, key) => {
      if (typeof key === "symbol" || (known[key] !== true && askedByTheLanguage[key] === 1)) return undefined;
      if (made[key] === undefined) made[key] = make(key);
      return made[key];
    };
    const target = create(null);
    return new ThisProxy(target, {
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

  const log = (level) => (...values) => {
    output(LOG, stringify({ level, text: showAll(values) }));
  };
  const console = freeze({
    log: log("log"),
    info: log("info"),
    warn: log("warn"),
    error: log("error"),
    debug: log("debug"),
  });

  for (const name of ["SharedArrayBuffer", "Atomics", "gc"]) delete globalThis[name];
  for (const [name, value] of Object.entries({ console, ToolError, text: (...values) => output(TEXT, showAll(values)) })) {
    hide(globalThis, name, value);
  }

  return {
    // facts: {"args": any, "tools": {source: [names]}}
    begin(facts) {
      hide(globalThis, "args", facts.args);
      const tools = lookup("`tools`", keys(facts.tools), (source) =>
        lookup(`\`tools.${source}\``, facts.tools[source] ?? [], (tool) => {
          const call = (args) => invoke(source, tool, args);
          defineProperties(call, { name: { value: tool }, length: { value: 1 } });
          return freeze(call);
        }),
      );
      defineProperty(globalThis, "tools", { value: tools, writable: false, configurable: false, enumerable: true });
    },

    result(value) {
      return value === undefined ? undefined : stringify(value);
    },

    failure(fields, site) {
      const error = new ToolError(fields);
      hide(error, "stack", site);
      return error;
    },

    // {"name"?, "message", "stack", "tool"?: {code, tool, call}, "overflow"?: true}
    threw(thrown) {
      const out = { __proto__: null };
      if (thrown instanceof ThisError) {
        out.name = show(thrown.name);
        out.message = show(thrown.message);
        out.stack = ownFrames(thrown.stack);
        if (thrown instanceof ToolError) out.tool = { code: thrown.code, tool: thrown.tool, call: thrown.call };
        if (thrown instanceof ThisRangeError && apply(startsWith, out.message, ["Maximum call stack size exceeded"])) out.overflow = true;
      } else {
        out.message = show(thrown);
        out.stack = "";
      }
      return stringify(out);
    },
  };
};
