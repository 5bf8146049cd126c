// The part of `crypto` that makes identifiers.
//
// Nothing here is a secret: all bits come from `Math.random`, which the run's seed decides, so that a replay draws the same.
// Hashes, keys and signatures (`crypto.subtle`) are deliberately absent.
(env) => {
  "use strict";
  const { exec, kind, need, viewOf } = env.primordials;
  const { random } = Math;
  const { defineProperty } = Object;
  const { isView } = ArrayBuffer;
  const ThisUint8Array = Uint8Array;
  const ThisDOMException = DOMException;
  const HEX = "0123456789abcdef";
  const INTEGERS = /^(?:Big)?(?:Uint|Int)/;

  const crypto = {
    getRandomValues(array) {
      need(arguments.length, 1, "crypto.getRandomValues");
      const name = isView(array) ? kind(array) : undefined;
      if (name === undefined || exec(INTEGERS, name) === null) {
        throw new ThisDOMException("`crypto.getRandomValues` fills typed arrays of integers only, such as a Uint8Array", "TypeMismatchError");
      }
      const length = viewOf.typed.byteLength(array);
      if (length > 65536) {
        throw new ThisDOMException("`crypto.getRandomValues` fills 65536 bytes at a time, and the array has " + length, "QuotaExceededError");
      }
      const bytes = new ThisUint8Array(viewOf.typed.buffer(array), viewOf.typed.byteOffset(array), length);
      for (let i = 0; i < length; i++) bytes[i] = random() * 256;
      return array;
    },
    randomUUID() {
      let uuid = "";
      for (let i = 0; i < 36; i++) {
        if (i === 8 || i === 13 || i === 18 || i === 23) uuid += "-";
        else uuid += i === 14 ? "4" : HEX[i === 19 ? 8 + ((random() * 4) | 0) : (random() * 16) | 0];
      }
      return uuid;
    },
  };
  defineProperty(crypto, Symbol.toStringTag, { value: "Crypto", configurable: true });
  return { crypto };
}
