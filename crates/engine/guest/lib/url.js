// URL and URLSearchParams, by the URL standard (url.spec.whatwg.org).
//
// The standard's parser goes character by character from state to state. This one cuts the parts out, which comes to the same, since
// `#` ends every part before it and `?` all but the fragment. The vectors in the tests hold it to that.
//
// Hosts beyond ASCII become Punycode without IDNA's tables: NFKC folds compatibility characters, capitals are lowered one by
// one, and control, unassigned and private characters are refused. What else IDNA refuses passes here (mixed directions, an `xn--`
// that decodes to nothing).
(env) => {
  "use strict";
  const { uncurry, charCodeAt, exec, indexOf, list, need, platform, quote, sequence, share, slice, text: toText, toLowerCase, toWellFormed } = env.primordials;
  const { decodeBinary } = env;
  const { floor } = Math;
  const { defineProperty, keys, setPrototypeOf } = Object;
  const { fromCharCode, fromCodePoint } = String;
  const { apply } = Reflect;
  const { iterator: ITERATOR, toStringTag } = Symbol;
  const codePointAt = uncurry(String.prototype.codePointAt);
  const lastIndexOf = uncurry(String.prototype.lastIndexOf);
  const normalize = uncurry(String.prototype.normalize);
  const inBase = uncurry(Number.prototype.toString);
  const sort = uncurry(Array.prototype.sort);
  const decodePercent = decodeURIComponent;
  const dropPercent = unescape;
  const encodePercent = encodeURIComponent;
  const number = parseInt;
  const ThisTypeError = TypeError;

  const PORTS = { __proto__: null, http: 80, https: 443, ws: 80, wss: 443, ftp: 21, file: null };
  const SCHEME = /^[a-z][-+.0-9a-z]*(?=:)/i;
  const DRIVE = /^[a-z][:|]$/i;
  const DRIVE_FIRST = /^[a-z][:|](?:[/\\?#]|$)/i;
  const DOT = /^(?:\.|%2e)$/i;
  const DOTS = /^(?:\.|%2e){2}$/i;
  const DIGITS = /^[0-9]*/;
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

  // ---- percent-encoding

  // A bit for each set, for each ASCII character that is in it. Controls and what is beyond ASCII are in every set.
  const CONTROLS = 0;
  const FRAGMENT = 1;
  const QUERY = 2;
  const SPECIAL_QUERY = 4;
  const PATH = 8;
  const USERINFO = 16;
  const FORM = 32;
  const sets = list(); // not a typed array, which cannot be frozen
  for (let i = 0; i < 128; i++) sets[i] = CONTROLS;
  for (const [characters, where] of [
    [' "<>', FRAGMENT | QUERY | SPECIAL_QUERY | PATH | USERINFO | FORM],
    ["`", FRAGMENT | PATH | USERINFO | FORM],
    ["#", QUERY | SPECIAL_QUERY | PATH | USERINFO | FORM],
    ["'", SPECIAL_QUERY | FORM],
    ["?^{}", PATH | USERINFO | FORM],
    ["/:;=@[\\]|", USERINFO | FORM],
    ["!$%&()+,~", FORM],
  ]) {
    for (const character of characters) sets[character.charCodeAt(0)] = where;
  }
  const HEX = "0123456789ABCDEF";
  const isHigh = (code) => code >= 0xd800 && code < 0xdc00;

  const encode = (text, set) => {
    let out = "";
    let start = 0; // of the stretch that stays as it is
    for (let i = 0; i < text.length; i++) {
      const code = charCodeAt(text, i);
      if (code >= 0x20 && code < 0x7f && (sets[code] & set) === 0) continue;
      out += slice(text, start, i);
      if (code >= 0x80) {
        const end = isHigh(code) ? i + 2 : i + 1;
        out += encodePercent(slice(text, i, end));
        i = end - 1;
      } else {
        out += set === FORM && code === 0x20 ? "+" : "%" + HEX[code >> 4] + HEX[code & 15];
      }
      start = i + 1;
    }
    return start === 0 ? text : out + slice(text, start);
  };

  const decode = (text) => {
    if (indexOf(text, "%") < 0) return text;
    try {
      return decodePercent(text);
    } catch {
      // A percent sign that encodes nothing, or bytes that are not UTF-8.
    }
    let binary = "";
    for (let i = 0; i < text.length; ) {
      const code = charCodeAt(text, i);
      let end = isHigh(code) ? i + 2 : i + 1;
      let part = slice(text, i, end);
      if (code >= 0x80) part = encodePercent(part);
      else if (code === 0x25 && dropPercent(slice(text, i, i + 3)).length === 1) part = slice(text, i, (end = i + 3));
      binary += dropPercent(part);
      i = end;
    }
    return decodeBinary(binary);
  };

  // ---- hosts

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

  // ---- the parser

  // `path` is a list of segments; `opaque` is a path without segments, as of `mailto:`, and then `path` counts for nothing.
  const newRecord = () => ({ __proto__: null, scheme: "", username: "", password: "", host: null, port: null, path: list(), opaque: null, query: null, fragment: null });
  const isSpecial = (url) => url.scheme in PORTS;
  const isSlash = (url, text, at) => at < text.length && (text[at] === "/" || (text[at] === "\\" && isSpecial(url)));
  const endOfPart = (url, text) => {
    let end = 0;
    while (end < text.length && !isSlash(url, text, end)) end++;
    return end;
  };
  const hasCredentials = (url) => url.username !== "" || url.password !== "";

  const dropBreaks = (text) => {
    let out = "";
    let start = 0;
    for (let i = 0; i < text.length; i++) {
      const code = charCodeAt(text, i);
      if (code !== 9 && code !== 10 && code !== 13) continue;
      out += slice(text, start, i);
      start = i + 1;
    }
    return start === 0 ? text : out + slice(text, start);
  };

  const inherit = (url, base) => {
    url.username = base.username;
    url.password = base.password;
    url.host = base.host;
    url.port = base.port;
  };
  const inheritPath = (url, base) => {
    for (let i = 0; i < base.path.length; i++) url.path[i] = base.path[i];
  };
  const shorten = (url) => {
    const { path } = url;
    if (path.length === 0 || (url.scheme === "file" && path.length === 1 && matches(DRIVE, path[0]) && path[0][1] === ":")) return;
    path.length--;
  };

  const addSegments = (url, text) => {
    for (let start = 0; start <= text.length; ) {
      let end = start;
      while (end < text.length && !isSlash(url, text, end)) end++;
      const last = end === text.length;
      let segment = slice(text, start, end);
      const { path } = url;
      if (matches(DOTS, segment)) {
        shorten(url);
        if (last) path[path.length] = "";
      } else if (matches(DOT, segment)) {
        if (last) path[path.length] = "";
      } else {
        if (url.scheme === "file" && path.length === 0 && matches(DRIVE, segment)) segment = segment[0] + ":";
        path[path.length] = encode(segment, PATH);
      }
      start = end + 1;
    }
  };
  const startPath = (url, text) => {
    if (isSlash(url, text, 0)) addSegments(url, slice(text, 1));
    else if (isSpecial(url) || text !== "") addSegments(url, text);
  };

  // The functions below return whether it is a URL.

  const takeHost = (url, text) => {
    const host = parseHost(text, isSpecial(url));
    if (host === undefined) return false;
    url.host = url.scheme === "file" && host === "localhost" ? "" : host;
    return true;
  };
  const takePort = (url, digits) => {
    if (digits === "") return true;
    const port = number(digits, 10);
    if (port > 65535) return false;
    url.port = port === PORTS[url.scheme] ? null : port;
    return true;
  };
  const colonOf = (text) => {
    let inside = false;
    for (let i = 0; i < text.length; i++) {
      if (text[i] === "[") inside = true;
      else if (text[i] === "]") inside = false;
      else if (text[i] === ":" && !inside) return i;
    }
    return -1;
  };

  const parseAuthority = (url, text) => {
    const end = endOfPart(url, text);
    let host = slice(text, 0, end);
    const at = lastIndexOf(host, "@");
    if (at >= 0) {
      const user = slice(host, 0, at);
      const colon = indexOf(user, ":");
      url.username = encode(colon < 0 ? user : slice(user, 0, colon), USERINFO);
      if (colon >= 0) url.password = encode(slice(user, colon + 1), USERINFO);
      host = slice(host, at + 1);
      if (host === "") return false;
    }
    const colon = colonOf(host);
    if (colon >= 0) {
      const port = slice(host, colon + 1);
      host = slice(host, 0, colon);
      if (host === "" || exec(DIGITS, port)[0] !== port || !takePort(url, port)) return false;
    }
    if (host === "" && isSpecial(url)) return false;
    if (!takeHost(url, host)) return false;
    startPath(url, slice(text, end));
    return true;
  };

  const parseFile = (url, text, base, query) => {
    url.scheme = "file";
    url.host = "";
    if (isSlash(url, text, 0) && isSlash(url, text, 1)) {
      const rest = slice(text, 2);
      const end = endOfPart(url, rest);
      const host = slice(rest, 0, end);
      if (matches(DRIVE, host)) addSegments(url, rest);
      else if (host !== "" && !takeHost(url, host)) return false;
      else startPath(url, slice(rest, end));
      return true;
    }
    if (base?.scheme === "file") {
      url.host = base.host;
      if (isSlash(url, text, 0)) {
        const first = base.path.length > 0 ? base.path[0] : "";
        if (!matches(DRIVE_FIRST, slice(text, 1)) && matches(DRIVE, first) && first[1] === ":") url.path[0] = first;
      } else if (!matches(DRIVE_FIRST, text)) {
        inheritPath(url, base);
        if (text !== "") shorten(url);
        else {
          if (query === null) url.query = base.query;
          return true;
        }
      }
    }
    addSegments(url, isSlash(url, text, 0) ? slice(text, 1) : text);
    return true;
  };

  const parseRelative = (url, text, base, query) => {
    url.scheme = base.scheme;
    if (isSlash(url, text, 0)) {
      if (isSlash(url, text, 1)) return parseAuthority(url, isSpecial(url) ? dropSlashes(text) : slice(text, 2));
      inherit(url, base);
      addSegments(url, slice(text, 1));
      return true;
    }
    inherit(url, base);
    inheritPath(url, base);
    if (text !== "") {
      shorten(url);
      addSegments(url, text);
    } else if (query === null) {
      url.query = base.query;
    }
    return true;
  };
  const dropSlashes = (text) => {
    let start = 0;
    while (start < text.length && (text[start] === "/" || text[start] === "\\")) start++;
    return slice(text, start);
  };

  const setQuery = (url, text) => (url.query = encode(text, isSpecial(url) ? SPECIAL_QUERY : QUERY));
  const setFragment = (url, text) => (url.fragment = encode(text, FRAGMENT));

  // Returns a record, or undefined when `input` is no URL.
  const parse = (input, base) => {
    let start = 0;
    let end = input.length;
    while (start < end && charCodeAt(input, start) <= 0x20) start++;
    while (start < end && charCodeAt(input, end - 1) <= 0x20) end--;
    let text = dropBreaks(slice(input, start, end));
    let query = null;
    let fragment = null;
    const hash = indexOf(text, "#");
    if (hash >= 0) {
      fragment = slice(text, hash + 1);
      text = slice(text, 0, hash);
    }
    const mark = indexOf(text, "?");
    if (mark >= 0) {
      query = slice(text, mark + 1);
      text = slice(text, 0, mark);
    }

    const url = newRecord();
    const scheme = exec(SCHEME, text);
    let sound = true;
    if (scheme !== null) {
      url.scheme = toLowerCase(scheme[0]);
      text = slice(text, scheme[0].length + 1);
      if (url.scheme === "file") sound = parseFile(url, text, base, query);
      else if (isSpecial(url)) {
        if (base?.scheme === url.scheme && slice(text, 0, 2) !== "//") sound = parseRelative(url, text, base, query);
        else sound = parseAuthority(url, dropSlashes(text));
      } else if (slice(text, 0, 2) === "//") sound = parseAuthority(url, slice(text, 2));
      else if (slice(text, 0, 1) === "/") addSegments(url, slice(text, 1));
      else {
        const space = slice(text, -1) === " " && (query !== null || fragment !== null);
        url.opaque = encode(space ? slice(text, 0, -1) : text, CONTROLS) + (space ? "%20" : "");
      }
    } else if (base === null) {
      return undefined;
    } else if (base.opaque !== null) {
      if (text !== "" || query !== null || fragment === null) return undefined;
      url.scheme = base.scheme;
      url.opaque = base.opaque;
      url.query = base.query;
    } else {
      sound = base.scheme === "file" ? parseFile(url, text, base, query) : parseRelative(url, text, base, query);
    }
    if (!sound) return undefined;
    if (query !== null) setQuery(url, query);
    if (fragment !== null) setFragment(url, fragment);
    return url;
  };

  const pathOf = (url) => {
    if (url.opaque !== null) return url.opaque;
    let out = "";
    for (let i = 0; i < url.path.length; i++) out += "/" + url.path[i];
    return out;
  };
  const hostOf = (url) => (url.host === null ? "" : url.port === null ? url.host : url.host + ":" + url.port);
  const hrefOf = (url) => {
    let out = url.scheme + ":";
    if (url.host !== null) {
      out += "//";
      if (hasCredentials(url)) out += url.username + (url.password === "" ? "" : ":" + url.password) + "@";
      out += hostOf(url);
    } else if (url.opaque === null && url.path.length > 1 && url.path[0] === "") {
      out += "/."; // or what follows would be read as a host
    }
    out += pathOf(url);
    if (url.query !== null) out += "?" + url.query;
    if (url.fragment !== null) out += "#" + url.fragment;
    return out;
  };
  const originOf = (url) => {
    if (url.scheme === "blob") {
      const inner = url.opaque === null ? undefined : parse(url.opaque, null);
      return inner?.scheme === "http" || inner?.scheme === "https" ? originOf(inner) : "null";
    }
    return isSpecial(url) && url.scheme !== "file" ? url.scheme + "://" + hostOf(url) : "null";
  };

  // `host` and `hostname` take as much of the text as is one.
  const setHost = (url, text, withPort) => {
    let end = 0;
    while (end < text.length && text[end] !== "?" && text[end] !== "#" && !isSlash(url, text, end)) end++;
    let host = slice(text, 0, end);
    if (url.scheme === "file") {
      if (host === "") url.host = "";
      else takeHost(url, host);
      return;
    }
    const colon = colonOf(host);
    if (colon >= 0 && !withPort) return;
    const port = colon < 0 ? "" : slice(host, colon + 1);
    if (colon >= 0) host = slice(host, 0, colon);
    if (host === "" && (colon >= 0 || isSpecial(url) || hasCredentials(url) || url.port !== null)) return;
    if (takeHost(url, host)) takePort(url, exec(DIGITS, port)[0]);
  };
  const setScheme = (url, text) => {
    const scheme = exec(SCHEME, text);
    if (scheme === null) return;
    const next = { __proto__: null, scheme: toLowerCase(scheme[0]) };
    if (isSpecial(url) !== isSpecial(next)) return;
    if (next.scheme === "file" && (hasCredentials(url) || url.port !== null)) return;
    if (url.scheme === "file" && url.host === "") return;
    url.scheme = next.scheme;
    if (url.port === PORTS[url.scheme]) url.port = null;
  };

  // ---- what scripts see

  const usv = (value) => toWellFormed(toText(value));

  let readParams;
  const parseForm = (text) => {
    const pairs = list();
    const parts = split(text, "&");
    for (let i = 0; i < parts.length; i++) {
      if (parts[i] === "") continue;
      let part = "";
      const words = split(parts[i], "+");
      for (let j = 0; j < words.length; j++) part += (j > 0 ? " " : "") + words[j];
      const sign = indexOf(part, "=");
      pairs[pairs.length] = decode(sign < 0 ? part : slice(part, 0, sign));
      pairs[pairs.length] = sign < 0 ? "" : decode(slice(part, sign + 1));
    }
    return pairs;
  };
  const formOf = (pairs) => {
    let out = "";
    for (let i = 0; i < pairs.length; i += 2) out += (i > 0 ? "&" : "") + encode(pairs[i], FORM) + "=" + encode(pairs[i + 1], FORM);
    return out;
  };

  class URLSearchParams {
    #pairs = list(); // name, value, name, value, …
    #url = null; // the record whose query this is

    constructor(init = "") {
      if ((typeof init !== "object" && typeof init !== "function") || init === null) {
        const text = usv(init);
        this.#pairs = parseForm(slice(text, 0, 1) === "?" ? slice(text, 1) : text);
      } else if (#pairs in init) {
        this.#keep(init.#pairs, () => true);
      } else if (init[ITERATOR] !== undefined && init[ITERATOR] !== null) {
        const given = sequence(init, "`URLSearchParams`");
        for (let i = 0; i < given.length; i++) {
          const pair = sequence(given[i], "each pair given to `URLSearchParams`");
          if (pair.length !== 2) throw new ThisTypeError("each pair given to `URLSearchParams` has a name and a value, and one has length " + pair.length);
          this.#add(usv(pair[0]), usv(pair[1]));
        }
      } else {
        const names = keys(init);
        for (let i = 0; i < names.length; i++) this.#add(toWellFormed(names[i]), usv(init[names[i]]));
      }
    }

    #add(name, value) {
      this.#pairs[this.#pairs.length] = name;
      this.#pairs[this.#pairs.length] = value;
    }
    #keep(pairs, test) {
      this.#pairs = list();
      for (let i = 0; i < pairs.length; i += 2) if (test(pairs[i], pairs[i + 1])) this.#add(pairs[i], pairs[i + 1]);
    }
    #changed() {
      if (this.#url !== null) this.#url.query = this.#pairs.length === 0 ? null : formOf(this.#pairs);
    }
    #find(name) {
      for (let i = 0; i < this.#pairs.length; i += 2) if (this.#pairs[i] === name) return i;
      return -1;
    }

    get size() {
      return this.#pairs.length / 2;
    }
    append(name, value) {
      need(arguments.length, 2, "URLSearchParams.append");
      this.#add(usv(name), usv(value));
      this.#changed();
    }
    delete(name, value = undefined) {
      need(arguments.length, 1, "URLSearchParams.delete");
      name = usv(name);
      if (value !== undefined) value = usv(value);
      this.#keep(this.#pairs, (k, v) => k !== name || (value !== undefined && v !== value));
      this.#changed();
    }
    get(name) {
      need(arguments.length, 1, "URLSearchParams.get");
      const at = this.#find(usv(name));
      return at < 0 ? null : this.#pairs[at + 1];
    }
    getAll(name) {
      need(arguments.length, 1, "URLSearchParams.getAll");
      name = usv(name);
      const values = list();
      for (let i = 0; i < this.#pairs.length; i += 2) if (this.#pairs[i] === name) values[values.length] = this.#pairs[i + 1];
      return share(values);
    }
    has(name, value = undefined) {
      need(arguments.length, 1, "URLSearchParams.has");
      name = usv(name);
      if (value !== undefined) value = usv(value);
      for (let i = 0; i < this.#pairs.length; i += 2) {
        if (this.#pairs[i] === name && (value === undefined || this.#pairs[i + 1] === value)) return true;
      }
      return false;
    }
    set(name, value) {
      need(arguments.length, 2, "URLSearchParams.set");
      name = usv(name);
      value = usv(value);
      const at = this.#find(name);
      if (at < 0) this.#add(name, value);
      else {
        let seen = false;
        this.#pairs[at + 1] = value;
        this.#keep(this.#pairs, (k) => k !== name || (!seen && (seen = true)));
      }
      this.#changed();
    }
    sort() {
      const entries = list();
      for (let i = 0; i < this.#pairs.length; i += 2) {
        entries[entries.length] = { __proto__: null, name: this.#pairs[i], value: this.#pairs[i + 1] };
      }
      sort(entries, (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
      this.#pairs = list();
      for (let i = 0; i < entries.length; i++) this.#add(entries[i].name, entries[i].value);
      this.#changed();
    }
    forEach(callback, self = undefined) {
      if (typeof callback !== "function") throw new ThisTypeError("`URLSearchParams.forEach` takes a function");
      for (let i = 0; i < this.#pairs.length; i += 2) apply(callback, self, [this.#pairs[i + 1], this.#pairs[i], this]);
    }
    entries() {
      return new ParamsIterator(this, (name, value) => [name, value]);
    }
    keys() {
      return new ParamsIterator(this, (name) => name);
    }
    values() {
      return new ParamsIterator(this, (_name, value) => value);
    }
    toString() {
      return formOf(this.#pairs);
    }

    static {
      readParams = {
        __proto__: null,
        pairsOf: (params) => params.#pairs,
        follow(params, url) {
          params.#url = url;
          params.#pairs = url.query === null ? list() : parseForm(url.query);
        },
      };
    }
  }
  defineProperty(URLSearchParams.prototype, ITERATOR, { value: URLSearchParams.prototype.entries, writable: true, configurable: true });

  class ParamsIterator {
    #params;
    #pick;
    #at = 0;
    constructor(params, pick) {
      readParams.pairsOf(params);
      this.#params = params;
      this.#pick = pick;
    }
    next() {
      const pairs = readParams.pairsOf(this.#params);
      if (this.#at >= pairs.length) return { value: undefined, done: true };
      const { [this.#at]: name, [this.#at + 1]: value } = pairs;
      this.#at += 2;
      const pick = this.#pick;
      return { value: pick(name, value), done: false };
    }
  }
  platform(ParamsIterator);
  delete ParamsIterator.prototype.constructor;
  setPrototypeOf(ParamsIterator.prototype, Iterator.prototype);
  defineProperty(ParamsIterator.prototype, toStringTag, { value: "URLSearchParams Iterator" });

  const parseAgainst = (input, base) => {
    const against = base === undefined ? null : parse(usv(base), null);
    return against === undefined ? undefined : parse(usv(input), against);
  };

  class URL {
    #record;
    #params;

    constructor(url, base = undefined) {
      need(arguments.length, 1, "URL");
      url = usv(url);
      if (base !== undefined) base = usv(base);
      const record = parseAgainst(url, base);
      if (record === undefined) {
        const hint = base === undefined ? "give the whole of it, like `https://host/path`, or a base as second argument" : "the base is " + quote(base);
        throw new ThisTypeError(quote(url) + " is not a URL; " + hint);
      }
      this.#record = record;
    }
    static canParse(url, base = undefined) {
      need(arguments.length, 1, "URL.canParse");
      return parseAgainst(url, base) !== undefined;
    }
    static parse(url, base = undefined) {
      need(arguments.length, 1, "URL.parse");
      url = usv(url);
      if (base !== undefined) base = usv(base);
      return parseAgainst(url, base) === undefined ? null : new URL(url, base);
    }

    #requery() {
      if (this.#params !== undefined) readParams.follow(this.#params, this.#record);
    }

    get href() {
      return hrefOf(this.#record);
    }
    set href(value) {
      value = usv(value);
      const record = parse(value, null);
      if (record === undefined) throw new ThisTypeError(quote(value) + " is not a URL, so `href` stays");
      this.#record = record;
      this.#requery();
    }
    get origin() {
      return originOf(this.#record);
    }
    get protocol() {
      return this.#record.scheme + ":";
    }
    set protocol(value) {
      setScheme(this.#record, dropBreaks(usv(value) + ":"));
    }
    get username() {
      return this.#record.username;
    }
    set username(value) {
      const url = this.#record;
      value = usv(value);
      if (url.host !== null && url.host !== "" && url.scheme !== "file") url.username = encode(value, USERINFO);
    }
    get password() {
      return this.#record.password;
    }
    set password(value) {
      const url = this.#record;
      value = usv(value);
      if (url.host !== null && url.host !== "" && url.scheme !== "file") url.password = encode(value, USERINFO);
    }
    get host() {
      return hostOf(this.#record);
    }
    set host(value) {
      value = usv(value);
      if (this.#record.opaque === null) setHost(this.#record, dropBreaks(value), true);
    }
    get hostname() {
      return this.#record.host ?? "";
    }
    set hostname(value) {
      value = usv(value);
      if (this.#record.opaque === null) setHost(this.#record, dropBreaks(value), false);
    }
    get port() {
      return this.#record.port === null ? "" : "" + this.#record.port;
    }
    set port(value) {
      const url = this.#record;
      value = usv(value);
      if (url.host === null || url.host === "" || url.scheme === "file") return;
      if (value === "") url.port = null;
      else takePort(url, exec(DIGITS, dropBreaks(value))[0]);
    }
    get pathname() {
      return pathOf(this.#record);
    }
    set pathname(value) {
      const url = this.#record;
      value = usv(value);
      if (url.opaque !== null) return;
      url.path = list();
      value = dropBreaks(value);
      startPath(url, value);
      if (value === "" && url.host === null) url.path[0] = "";
    }
    get search() {
      const { query } = this.#record;
      return query === null || query === "" ? "" : "?" + query;
    }
    set search(value) {
      const url = this.#record;
      value = usv(value);
      if (value === "") url.query = null;
      else setQuery(url, dropBreaks(value[0] === "?" ? slice(value, 1) : value));
      this.#requery();
    }
    get searchParams() {
      if (this.#params === undefined) {
        const params = new URLSearchParams();
        readParams.follow(params, this.#record);
        this.#params = params;
      }
      return this.#params;
    }
    get hash() {
      const { fragment } = this.#record;
      return fragment === null || fragment === "" ? "" : "#" + fragment;
    }
    set hash(value) {
      const url = this.#record;
      value = usv(value);
      if (value === "") url.fragment = null;
      else setFragment(url, dropBreaks(value[0] === "#" ? slice(value, 1) : value));
    }
    toString() {
      return hrefOf(this.#record);
    }
    toJSON() {
      return hrefOf(this.#record);
    }
  }

  for (const Class of [URL, URLSearchParams]) {
    platform(Class);
    env.refuseToClone?.(Class.prototype);
  }
  return { URL, URLSearchParams };
}
