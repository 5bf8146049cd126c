// structuredClone. Works off a list of what is still to be filled in and does not recurse, so that no nesting is too deep.
//
// An object's prototypes say which of the engine's own tests it is put to. So a Map that has been given a strange prototype is
// cloned as a plain object, and a proxy as what it shows; elsewhere the first is told apart and the second refused. What cannot be cloned
// is a DataCloneError. What the standard leaves out is left out: a class, accessors, the fields of an error beyond message and cause.
(env) => {
  "use strict";
  const { uncurry, getter, kind, need, list, quote, sequence, text, viewOf } = env.primordials;
  const { defineProperty, getPrototypeOf, hasOwn, keys } = Object;
  const { isArray } = Array;
  const { isView } = ArrayBuffer;
  const { isError } = Error;
  const ThisArrayBuffer = ArrayBuffer;
  const ThisDate = Date;
  const ThisDOMException = DOMException;
  const ThisMap = Map;
  const ThisObject = Object;
  const ThisRegExp = RegExp;
  const ThisSet = Set;
  const ThisUint8Array = Uint8Array;
  const mapForEach = uncurry(Map.prototype.forEach);
  const mapGet = uncurry(Map.prototype.get);
  const mapHas = uncurry(Map.prototype.has);
  const mapSet = uncurry(Map.prototype.set);
  const setAdd = uncurry(Set.prototype.add);
  const setForEach = uncurry(Set.prototype.forEach);
  const setBytes = uncurry(Uint8Array.prototype.set);
  const byteLength = getter(ArrayBuffer.prototype, "byteLength");
  const maxByteLength = getter(ArrayBuffer.prototype, "maxByteLength");
  const isResizable = getter(ArrayBuffer.prototype, "resizable");
  const isDetached = getter(ArrayBuffer.prototype, "detached");
  const transfer = uncurry(ArrayBuffer.prototype.transfer);

  const views = { __proto__: null, DataView };
  for (const name of ["Int8", "Uint8", "Uint8Clamped", "Int16", "Uint16", "Int32", "Uint32", "BigInt64", "BigUint64", "Float16", "Float32", "Float64"]) {
    views[name + "Array"] = globalThis[name + "Array"];
  }
  const errors = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  const fail = (message) => {
    throw new ThisDOMException(message, "DataCloneError");
  };
  const refuse = (what, key) => fail(what + (key === undefined ? "" : ", at " + quote(key) + ",") + " cannot be cloned");

  // Defines a property as an assignment would that meets no setter and nothing read-only on the way.
  const put = (object, key, value) => {
    if (key in object) defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
    else object[key] = value;
  };
  const hide = (object, key, value) => defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

  const copyBuffer = (from) => {
    if (isDetached(from)) refuse("an ArrayBuffer that is detached");
    const length = byteLength(from);
    const to = isResizable(from) ? new ThisArrayBuffer(length, { __proto__: null, maxByteLength: maxByteLength(from) }) : new ThisArrayBuffer(length);
    setBytes(new ThisUint8Array(to), new ThisUint8Array(from));
    return to;
  };

  // From a prototype to (value, later, key) => clone, or undefined when the value only inherits from it. `later(f)` has f(copy) called
  // when the clone is known, to fill it.
  const kinds = new ThisMap();
  const define = (prototype, test, make) =>
    mapSet(kinds, prototype, (value, later) => {
      let inside;
      try {
        inside = test(value);
      } catch {
        return undefined;
      }
      return make(inside, later, value);
    });
  const never = (prototype, { name } = prototype.constructor) =>
    mapSet(kinds, prototype, (_value, _later, key) => refuse("a value of the class " + quote(name), key));

  for (const Class of [Boolean, Number, BigInt, String]) define(Class.prototype, uncurry(Class.prototype.valueOf), ThisObject);
  define(Date.prototype, uncurry(Date.prototype.getTime), (time) => new ThisDate(time));
  define(RegExp.prototype, getter(RegExp.prototype, "source"), (_source, _later, value) => new ThisRegExp(value));
  define(ArrayBuffer.prototype, byteLength, (_length, _later, value) => copyBuffer(value));
  define(Map.prototype, getter(Map.prototype, "size"), (_size, later, value) => {
    const to = new ThisMap();
    const entries = list();
    mapForEach(value, (item, key) => {
      entries[entries.length] = key;
      entries[entries.length] = item;
    });
    later((copy) => {
      for (let i = 0; i < entries.length; i += 2) mapSet(to, copy(entries[i]), copy(entries[i + 1]));
    });
    return to;
  });
  define(Set.prototype, getter(Set.prototype, "size"), (_size, later, value) => {
    const to = new ThisSet();
    const items = list();
    setForEach(value, (item) => (items[items.length] = item));
    later((copy) => {
      for (let i = 0; i < items.length; i++) setAdd(to, copy(items[i]));
    });
    return to;
  });
  const stackOf = getter(Error.prototype, "stack");
  mapSet(kinds, Error.prototype, (value, later) => {
    if (!isError(value)) return undefined;
    const { name } = value;
    const stack = hasOwn(value, "stack") ? value.stack : stackOf(value);
    const to = new ((typeof name === "string" && errors[name]) || errors.Error)();
    if (hasOwn(value, "message")) hide(to, "message", text(value.message));
    if (typeof stack === "string") hide(to, "stack", stack);
    if (hasOwn(value, "cause")) later((copy) => hide(to, "cause", copy(value.cause, "cause")));
    return to;
  });
  const exceptionName = getter(DOMException.prototype, "name");
  const exceptionMessage = getter(DOMException.prototype, "message");
  define(DOMException.prototype, exceptionName, (name, _later, value) => new ThisDOMException(exceptionMessage(value), name));
  never(Symbol.prototype);
  never(Promise.prototype);
  never(WeakMap.prototype);
  never(WeakSet.prototype);
  never(Iterator.prototype, Iterator);

  const copyView = (value, copy) => {
    const name = kind(value) ?? "DataView";
    const { buffer, byteOffset, byteLength } = name === "DataView" ? viewOf.data : viewOf.typed;
    const Class = views[name];
    const offset = byteOffset(value);
    const length = byteLength(value) / (Class.BYTES_PER_ELEMENT ?? 1);
    return new Class(copy(buffer(value)), offset, length);
  };

  const fillFrom = (from, to) => (copy) => {
    const names = keys(from);
    for (let i = 0; i < names.length; i++) {
      const key = names[i];
      // A getter that ran before may have taken it away.
      if (hasOwn(from, key)) put(to, key, copy(from[key], key));
    }
  };

  const clone = (root) => {
    const known = new ThisMap();
    const tasks = list();
    const later = (task) => (tasks[tasks.length] = task);

    const make = (value, key) => {
      if (isArray(value)) {
        const to = [];
        to.length = value.length;
        later(fillFrom(value, to));
        return to;
      }
      if (isView(value)) return copyView(value, copy);
      for (let prototype = getPrototypeOf(value); prototype !== null; prototype = getPrototypeOf(prototype)) {
        const to = mapGet(kinds, prototype)?.(value, later, key);
        if (to !== undefined) return to;
      }
      const to = {};
      later(fillFrom(value, to));
      return to;
    };
    const copy = (value, key) => {
      if (typeof value === "function") refuse("a function", key);
      if (typeof value === "symbol") refuse("a symbol", key);
      if (typeof value !== "object" || value === null) return value;
      let to = mapGet(known, value);
      if (to === undefined) {
        to = make(value, key);
        mapSet(known, value, to);
      }
      return to;
    };

    const to = copy(root);
    while (tasks.length > 0) {
      const task = tasks[tasks.length - 1];
      tasks.length--;
      task(copy);
    }
    return to;
  };

  // Buffers that are handed over are copied as well and detached when all has gone well. Nobody can tell, but for the time.
  const buffersToDetach = (values) => {
    const buffers = sequence(values, "`transfer`");
    const seen = new ThisMap();
    for (let i = 0; i < buffers.length; i++) {
      let gone = true;
      try {
        gone = isDetached(buffers[i]);
      } catch {
        fail("only an ArrayBuffer can be in `transfer`");
      }
      if (gone) fail("an ArrayBuffer in `transfer` is detached already");
      if (mapHas(seen, buffers[i])) fail("an ArrayBuffer is in `transfer` twice");
      mapSet(seen, buffers[i], true);
    }
    return buffers;
  };

  const cloneAndDetach = (value, options) => {
    const handed = options?.transfer;
    const buffers = handed === undefined ? list() : buffersToDetach(handed);
    const to = clone(value);
    for (let i = 0; i < buffers.length; i++) if (!isDetached(buffers[i])) transfer(buffers[i], 0);
    return to;
  };

  env.refuseToClone = never;
  return {
    structuredClone(value, options = undefined) {
      need(arguments.length, 1, "structuredClone");
      return cloneAndDetach(value, options);
    },
  };
}
