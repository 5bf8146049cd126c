// TextEncoder and TextDecoder. UTF-8 is the only encoding: a label of another is refused.
//
// Bytes become text and text bytes by the engine's own functions, through a string that has one character for each byte: a loop
// written here would take a hundred times as long. Only text that is not valid UTF-8 goes through such a loop.
(env) => {
  "use strict";
  const { uncurry, charCodeAt, exec, kind, need, platform, quote, slice, text, toLowerCase, toWellFormed, viewOf } = env.primordials;
  const { fromBase64 } = Uint8Array;
  const { fromCodePoint } = String;
  const { isView } = ArrayBuffer;
  const { apply } = Reflect;
  const toBase64 = uncurry(Uint8Array.prototype.toBase64);
  const setBytes = uncurry(Uint8Array.prototype.set);
  const trim = uncurry(String.prototype.trim);
  const ThisUint8Array = Uint8Array;
  const ThisRangeError = RangeError;
  const ThisTypeError = TypeError;
  const decodePercent = decodeURIComponent;
  const encodePercent = encodeURIComponent;
  const addPercent = escape;
  const dropPercent = unescape;
  const fromBinary = atob;
  const toBinary = btoa;
  const BEYOND_ASCII = /[^\0-\x7f]/;
  const LABEL = /^(?:unicode-1-1-utf-8|unicode11utf8|unicode20utf8|utf-?8|x-unicode20utf8)$/;

  const bytesOfText = (characters) => {
    const binary = exec(BEYOND_ASCII, characters) === null ? characters : dropPercent(encodePercent(toWellFormed(characters)));
    return apply(fromBase64, ThisUint8Array, [toBinary(binary)]);
  };

  // How many bytes a sequence that starts with this one has; 0 when none starts so.
  const lengthAfter = (lead) => (lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);

  // Each longest stretch that begins like a character and does not end like one becomes one U+FFFD, as the standard has it.
  const decodeBroken = (binary) => {
    let decoded = "";
    for (let i = 0; i < binary.length; ) {
      const lead = charCodeAt(binary, i++);
      if (lead < 0x80) {
        decoded += fromCodePoint(lead);
        continue;
      }
      let left = lengthAfter(lead) - 1;
      let point = lead & (0x3f >> left);
      let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      let high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      while (left > 0 && i < binary.length) {
        const next = charCodeAt(binary, i);
        if (next < low || next > high) break;
        point = (point << 6) | (next & 0x3f);
        low = 0x80;
        high = 0xbf;
        left--;
        i++;
      }
      decoded += left === 0 ? fromCodePoint(point) : "\ufffd";
    }
    return decoded;
  };

  // The text, or undefined when the bytes are not valid UTF-8.
  const decodeValid = (binary) => {
    if (exec(BEYOND_ASCII, binary) === null) return binary;
    try {
      return decodePercent(addPercent(binary));
    } catch {
      return undefined;
    }
  };

  // How many bytes at the end are the start of a character that goes on in the next chunk.
  const unfinished = (binary) => {
    for (let count = 1; count < 4 && count <= binary.length; count++) {
      const length = lengthAfter(charCodeAt(binary, binary.length - count));
      if (length > count) return decodeBroken(slice(binary, -count)) === "\ufffd" ? count : 0;
    }
    return 0;
  };

  const bytesOf = (input) => {
    if (!isView(input)) return new ThisUint8Array(input);
    const view = kind(input) === undefined ? viewOf.data : viewOf.typed;
    return new ThisUint8Array(view.buffer(input), view.byteOffset(input), view.byteLength(input));
  };

  class TextEncoder {
    #brand;
    get encoding() {
      this.#brand;
      return "utf-8";
    }
    encode(input = "") {
      this.#brand;
      return bytesOfText(text(input));
    }
    encodeInto(source, destination) {
      this.#brand;
      need(arguments.length, 2, "TextEncoder.encodeInto");
      if (kind(destination) !== "Uint8Array") throw new ThisTypeError("`TextEncoder.encodeInto` writes into a Uint8Array only");
      source = text(source);
      const room = viewOf.typed.byteLength(destination);
      let bytes = bytesOfText(source);
      let written = viewOf.typed.byteLength(bytes);
      let read = source.length;
      if (written > room) {
        written = room;
        while ((bytes[written] & 0xc0) === 0x80) written--;
        bytes = new ThisUint8Array(viewOf.typed.buffer(bytes), 0, written);
        read = decodeValid(fromBinary(toBase64(bytes))).length;
      }
      setBytes(destination, bytes);
      return { read, written };
    }
  }

  class TextDecoder {
    #fatal;
    #ignoreBOM;
    #rest = "";
    #started = false;
    constructor(label = "utf-8", options = undefined) {
      label = text(label);
      if (exec(LABEL, toLowerCase(trim(label))) === null) {
        throw new ThisRangeError("the encoding " + quote(label) + " is not supported: `TextDecoder` knows `utf-8` only");
      }
      this.#fatal = !!options?.fatal;
      this.#ignoreBOM = !!options?.ignoreBOM;
    }
    get encoding() {
      this.#fatal;
      return "utf-8";
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBOM;
    }
    decode(input = undefined, options = undefined) {
      const more = !!options?.stream;
      let binary = this.#rest;
      if (input !== undefined) {
        if (typeof input !== "object" || input === null) throw new ThisTypeError("`TextDecoder.decode` takes an ArrayBuffer or a view on one");
        binary += fromBinary(toBase64(bytesOf(input)));
      }
      this.#rest = "";
      if (more) {
        const held = unfinished(binary);
        if (held > 0) {
          this.#rest = slice(binary, -held);
          binary = slice(binary, 0, -held);
        }
      }
      const first = !this.#started;
      this.#started = more && (this.#started || binary !== "");
      if (first && !this.#ignoreBOM && slice(binary, 0, 3) === "\xef\xbb\xbf") binary = slice(binary, 3);
      const decoded = decodeValid(binary);
      if (decoded !== undefined) return decoded;
      if (this.#fatal) {
        this.#rest = "";
        this.#started = false;
        throw new ThisTypeError("the bytes are not valid UTF-8; without `fatal` what is wrong becomes U+FFFD");
      }
      return decodeBroken(binary);
    }
  }

  env.decodeBinary = (binary) => decodeValid(binary) ?? decodeBroken(binary);
  env.refuseToClone?.(TextEncoder.prototype);
  env.refuseToClone?.(TextDecoder.prototype);
  return { TextEncoder: platform(TextEncoder), TextDecoder: platform(TextDecoder) };
}
