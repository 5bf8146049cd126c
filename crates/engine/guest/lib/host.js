// The hosts of URLs: names, IPv4 and IPv6 addresses.
//
// Names beyond ASCII become Punycode without IDNA's tables: NFKC folds compatibility characters, capitals are lowered one by
// one, and control, unassigned and private characters are refused. What else IDNA refuses passes here (mixed directions, an `xn--`
// that decodes to nothing).
(env) => {
  "use strict";
  const { uncurry, exec, indexOf, list, slice, toLowerCase } = env.primordials;
  const { CONTROLS, decode, encode } = env.percent;
  const { floor } = Math;
  const { fromCharCode, fromCodePoint } = String;
  const codePointAt = uncurry(String.prototype.codePointAt);
  const inBase = uncurry(Number.prototype.toString);
  const normalize = uncurry(String.prototype.normalize);
  const number = parseInt;

  const NOT_IN_A_HOST = /[\0\t\n\r #/:<>?@[\\\]^|]/;
  const NOT_IN_A_DOMAIN = /[\0- #%/:<>?@[\\\]^|\x7f]/;
  const BEYOND_ASCII = /[^\0-\x7f]/;
  const DROPPED_FROM_A_LABEL = /^[\xad\u200b\u2060\ufe00-\ufe0f]$/;
  const NOT_IN_A_LABEL = /^\p{M}|[\p{C}\p{Z}\ufffd]/u;
  const NUMBER_LAST = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$/;
  const HEX_NUMBER = /^0x[0-9a-f]*$/;
  const OCTAL_NUMBER = /^0[0-7]*$/;
  const DECIMAL_NUMBER = /^[1-9][0-9]*$/;
  const UP_TO_FOUR_HEX = /^[0-9a-f]{0,4}/i;
  const DOTTED = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;
  const matches = (pattern, text) => exec(pattern, text) !== null;

  const split = (text, separator) => {
    const parts = list();
    for (let start = 0; ; ) {
      const end = indexOf(text, separator, start);
      parts[parts.length] = end < 0 ? slice(text, start) : slice(text, start, end);
      if (end < 0) return parts;
      start = end + 1;
    }
  };

  const DIGIT = "abcdefghijklmnopqrstuvwxyz0123456789";
  // RFC 3492, with its names.
  const punycode = (label) => {
    const points = list();
    let out = "";
    for (let i = 0; i < label.length; ) {
      const point = codePointAt(label, i);
      i += point > 0xffff ? 2 : 1;
      points[points.length] = point;
      if (point < 0x80) out += fromCharCode(point);
    }
    const basic = out.length;
    if (basic > 0) out += "-";
    let n = 0x80;
    let delta = 0;
    let bias = 72;
    for (let handled = basic; handled < points.length; delta++, n++) {
      let next = 0x10ffff;
      for (let i = 0; i < points.length; i++) if (points[i] >= n && points[i] < next) next = points[i];
      delta += (next - n) * (handled + 1);
      n = next;
      for (let i = 0; i < points.length; i++) {
        if (points[i] < n) delta++;
        if (points[i] !== n) continue;
        let q = delta;
        for (let k = 36; ; k += 36) {
          const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
          if (q < t) break;
          out += DIGIT[t + ((q - t) % (36 - t))];
          q = floor((q - t) / (36 - t));
        }
        out += DIGIT[q];
        let spread = floor(delta / (handled === basic ? 700 : 2));
        handled++;
        spread += floor(spread / handled);
        let k = 0;
        for (; spread > 455; k += 36) spread = floor(spread / 35);
        bias = k + floor((36 * spread) / (spread + 38));
        delta = 0;
      }
    }
    return out;
  };

  const toAscii = (domain) => {
    if (!matches(BEYOND_ASCII, domain)) return toLowerCase(domain);
    const folded = normalize(domain, "NFKC");
    let lowered = "";
    for (let i = 0; i < folded.length; ) {
      const character = fromCodePoint(codePointAt(folded, i));
      i += character.length;
      if (character === "\u3002") lowered += ".";
      else if (!matches(DROPPED_FROM_A_LABEL, character)) lowered += toLowerCase(character);
    }
    const labels = split(normalize(lowered, "NFC"), ".");
    let out = "";
    for (let i = 0; i < labels.length; i++) {
      const label = labels[i];
      if (i > 0) out += ".";
      if (!matches(BEYOND_ASCII, label)) out += label;
      else if (matches(NOT_IN_A_LABEL, label)) return undefined;
      else out += "xn--" + punycode(label);
    }
    return out;
  };

  const parseIpv4 = (domain) => {
    const parts = split(domain, ".");
    if (parts.length > 1 && parts[parts.length - 1] === "") parts.length--;
    if (parts.length > 4) return undefined;
    let address = 0;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i];
      let value;
      if (matches(HEX_NUMBER, part)) value = part.length === 2 ? 0 : number(slice(part, 2), 16);
      else if (matches(OCTAL_NUMBER, part)) value = number(part, 8);
      else if (matches(DECIMAL_NUMBER, part)) value = number(part, 10);
      else return undefined;
      const last = i === parts.length - 1;
      if (value >= (last ? 256 ** (4 - i) : 256)) return undefined;
      address += last ? value : value * 256 ** (3 - i);
    }
    return floor(address / 0x1000000) + "." + ((address >> 16) & 255) + "." + ((address >> 8) & 255) + "." + (address & 255);
  };

  const parseIpv6 = (text) => {
    const pieces = list();
    let gap = -1; // before which piece `::` stands
    let i = 0;
    if (slice(text, 0, 1) === ":") {
      if (slice(text, 0, 2) !== "::") return undefined;
      i = 2;
      gap = 0;
    }
    while (i < text.length) {
      if (pieces.length === 8) return undefined;
      if (text[i] === ":") {
        if (gap >= 0) return undefined;
        gap = pieces.length;
        i++;
        continue;
      }
      const digits = exec(UP_TO_FOUR_HEX, slice(text, i, i + 4))[0];
      const end = i + digits.length;
      if (end < text.length && text[end] === ".") {
        const bytes = exec(DOTTED, slice(text, i));
        if (bytes === null || pieces.length > 6) return undefined;
        pieces[pieces.length] = (bytes[1] << 8) | bytes[2];
        pieces[pieces.length] = (bytes[3] << 8) | bytes[4];
        break;
      }
      if (digits === "") return undefined;
      pieces[pieces.length] = number(digits, 16);
      if (end < text.length && (text[end] !== ":" || end + 1 === text.length)) return undefined;
      i = end + 1;
    }
    if (gap < 0 && pieces.length !== 8) return undefined;
    const missing = 8 - pieces.length;
    for (let j = pieces.length - 1; j >= gap && missing > 0; j--) pieces[j + missing] = pieces[j];
    for (let j = gap; j < gap + missing; j++) pieces[j] = 0;

    let longest = -1; // where the longest row of zeros begins, if it has two or more
    let length = 1;
    for (let j = 0; j < 8; j++) {
      let run = 0;
      while (j + run < 8 && pieces[j + run] === 0) run++;
      if (run > length) {
        longest = j;
        length = run;
      }
      if (run > 0) j += run - 1;
    }
    let out = "";
    for (let j = 0; j < 8; j++) {
      if (j === longest) {
        out += j === 0 ? "::" : ":";
        j += length - 1;
      } else {
        out += inBase(pieces[j], 16);
        if (j < 7) out += ":";
      }
    }
    return "[" + out + "]";
  };

  const parseHost = (text, special) => {
    if (slice(text, 0, 1) === "[") return slice(text, -1) === "]" ? parseIpv6(slice(text, 1, -1)) : undefined;
    if (!special) return matches(NOT_IN_A_HOST, text) ? undefined : encode(text, CONTROLS);
    const domain = toAscii(decode(text));
    if (domain === undefined || domain === "" || matches(NOT_IN_A_DOMAIN, domain)) return undefined;
    return matches(NUMBER_LAST, domain) ? parseIpv4(domain) : domain;
  };

  env.splitText = split;
  env.parseHost = parseHost;
  return {};
}
