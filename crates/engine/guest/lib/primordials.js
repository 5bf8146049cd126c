// Built-ins as they are before a script can change them, in the form in which the other files of this folder use them. None of
// it is shown to scripts.
//
// Each of those files is an expression whose value is a function. It is given `env` and returns globals; what later files and the
// prelude need of it, and scripts do not see, it puts on `env`. They run in this order: clone, text, crypto, abort, percent,
// host, record, url.
//
// What those files keep away from after the start: methods looked up on a value, `for…of` and spread (they ask for an iterator),
// assigning to an element that is not there yet (it asks the prototypes for a setter), objects that inherit from
// `Object.prototype` as tables or as property descriptors, and templates with holes (for which this engine looks up `concat`).
() => {
  "use strict";
  const { bind, call } = Function.prototype;
  const { defineProperty, getOwnPropertyDescriptor, setPrototypeOf } = Object;
  const { ownKeys } = Reflect;
  const { toStringTag } = Symbol;
  const { iterator } = Symbol;
  const { isArray } = Array;
  const ArrayPrototype = Array.prototype;
  const ThisString = String;
  const ThisTypeError = TypeError;

  // uncurry(method)(self, ...args) is self.method(...args), whatever becomes of the method's name.
  const uncurry = bind.bind(call);
  const getter = (prototype, name) => uncurry(getOwnPropertyDescriptor(prototype, name).get);
  const { charCodeAt, indexOf, slice, toLowerCase, toWellFormed } = String.prototype;
  const cut = uncurry(slice);
  const TypedArray = Object.getPrototypeOf(Uint8Array.prototype);

  return {
    uncurry,
    getter,
    charCodeAt: uncurry(charCodeAt),
    indexOf: uncurry(indexOf),
    slice: cut,
    toLowerCase: uncurry(toLowerCase),
    toWellFormed: uncurry(toWellFormed),
    exec: uncurry(RegExp.prototype.exec),

    // Of any view on a buffer. `kind` is the name of the class; a DataView has none here.
    kind: getter(TypedArray, toStringTag),
    viewOf: {
      __proto__: null,
      typed: { buffer: getter(TypedArray, "buffer"), byteOffset: getter(TypedArray, "byteOffset"), byteLength: getter(TypedArray, "byteLength") },
      data: {
        buffer: getter(DataView.prototype, "buffer"),
        byteOffset: getter(DataView.prototype, "byteOffset"),
        byteLength: getter(DataView.prototype, "byteLength"),
      },
    },

    // An array of our own: with no prototype, so that no setter is met when it grows. `share` makes it an ordinary one.
    list: () => setPrototypeOf([], null),
    share: (list) => setPrototypeOf(list, ArrayPrototype),

    // What a script gives as a sequence, as a list. Only an iterable that is no array is asked for its iterator.
    sequence(values, what) {
      const list = setPrototypeOf([], null);
      if (isArray(values)) {
        for (let i = 0; i < values.length; i++) list[i] = values[i];
      } else {
        if (typeof values?.[iterator] !== "function") throw new ThisTypeError(what + " takes an array, or something else that can be iterated");
        for (const value of values) list[list.length] = value;
      }
      return list;
    },

    // Gives a class the looks that platform classes have: its members are enumerable, and it has a tag.
    platform(Class) {
      for (const object of [Class, Class.prototype]) {
        for (const key of ownKeys(object)) {
          if (typeof key === "symbol" || key === "prototype" || key === "constructor" || key === "name" || key === "length") continue;
          defineProperty(object, key, { enumerable: true });
        }
      }
      defineProperty(Class.prototype, toStringTag, { value: Class.name, configurable: true });
      return Class;
    },

    text(value) {
      if (typeof value === "symbol") throw new ThisTypeError("a symbol cannot become text");
      return ThisString(value);
    },

    // For an error message: a text, in backticks and not too long.
    quote: (shown) => "`" + (shown.length > 100 ? cut(shown, 0, 100) + "…" : shown) + "`",

    need(given, count, what) {
      if (given < count) throw new ThisTypeError("`" + what + "` takes " + count + (count > 1 ? " arguments" : " argument") + " and got " + given);
    },
  };
}
