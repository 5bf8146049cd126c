// Percent-encoding, by the URL standard: which characters are encoded depends on the part of the URL.
(env) => {
  "use strict";
  const { charCodeAt, indexOf, list, slice } = env.primordials;
  const { decodeBinary } = env;
  const decodePercent = decodeURIComponent;
  const dropPercent = unescape;
  const encodePercent = encodeURIComponent;

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

  env.percent = { __proto__: null, encode, decode, CONTROLS, FRAGMENT, QUERY, SPECIAL_QUERY, PATH, USERINFO, FORM };
  return {};
}
