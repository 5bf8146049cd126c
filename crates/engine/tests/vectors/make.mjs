// Writes web.json: what another implementation of the same standards answers, for inputs put together at random.
//
// Run by hand, with Node 20: `node make.mjs > web.json`. Left out is where that version of Node answers otherwise than the standard of
// today; `differs` has the list.
//
// `node make.mjs 20000 7` makes that many of each kind from that seed, to look further once.
const count = Number(process.argv[2] ?? 220);
let state = BigInt(process.argv[3] ?? 1);

const below = (n) => {
  state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  return Number((state >> 33n) % BigInt(n));
};
const pick = (items) => items[below(items.length)];
const some = (items, most) => Array.from({ length: below(most + 1) }, () => pick(items)).join("");

const schemes = ["http", "https", "HTTP", "ws", "wss", "ftp", "file", "File", "foo", "x-y+z.1", "mailto", "javascript", "data", "blob", "1a", "", "h\nttp"];
const slashes = ["//", "//", "//", "/", "", "///", "\\\\", "/\\", "//\t"];
const users = ["", "", "", "u@", "u:p@", ":p@", "@", "a@b@", "u%20é:p:'|^@", ":@", "<\"`>{}?@".replace("?", "")];
const hosts = [
  "example.com", "EXAMPLE.com", "a.b.c", "localhost", "LOCALHOST", "", "1.2.3.4", "1.2.3", "0x7f.1", "0300.0.0.1", "256.1.1.1", "1.2.3.4.5", "4294967295", "4294967296", "09.1",
  "1.2.3.4.", "1..2", "a.1", "a.0x", "a.0xg", ".", "..", "a..b", "0x", "1.0x1000000", "%31%32.1", "ex%41mple", "a%2fb", "a%zz", "a b", "a<b", "a|b", "a^b", "a%00", "a_b", "*.x", "!$&'()*+,;=",
  "[::1]", "[1:2:3:4:5:6:7:8]", "[::]", "[1::8]", "[0:0:1::]", "[1:0:0:2::3]", "[::ffff:1.2.3.4]", "[1.2.3.4]", "[::1.2.3]", "[::01.2.3.4]", "[1:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:7:1.2.3.4]", "[12345::]", "[::1", "[:1]", "[1:]", "[:::]", "[1::2::3]",
  "[g::]", "[FFFF:ABCD::]", "[1:2:3:4:5:6:7::]", "[::2:3:4:5:6:7:8]", "münchen.de", "BÜCHER.example", "例え.テスト", "ＧＯ.ｃｏｍ", "a。b", "ex\u00adample.com", "☃.net", "😀.ws", "faß.de", "ΒΌΛΟΣ.gr", "xn--mnchen-3ya.de", "a\ufffd", "é%c3%a9", "%ff", "C:", "c|", "x\ty", "a@b",
];
const ports = ["", "", "", ":", ":80", ":443", ":8080", ":65535", ":65536", ":00080", ":8a", ": 1", ":21", ":1\t2", ":999999999999999999999"];
const segments = ["a", "b", "c", ".", "..", "%2e", ".%2E", "%2e%2e", "...", "", "C:", "C|", "d:x", "é", "😀", "\ud800", "a b", "<>\"`{}", "|", "[]", "%", "%zz", "%41", "~!$&'()*+,;=:@", "\t", "\x7f", "\x01", "x.y"];
const joins = ["/", "/", "/", "\\", "//"];
const queries = ["", "", "?", "?a=1", "?é=\ud83d\ude00", "?a b&c='d'", "?<>\"`#", "?%zz{}|\\^", "?a?b", "?\udc00"];
const hashes = ["", "", "#", "#x", "#a b", "#<>\"`{}#", "#é%", "#\n?q"];
const paths = () => {
  let out = pick(["", "/", "/"]);
  for (let n = below(5); n > 0; n--) out += pick(segments) + pick(joins);
  return out + pick(segments);
};
const whole = () => pick(["", "", "", " ", "\x00\t"]) + pick(schemes) + ":" + pick(slashes) + pick(users) + pick(hosts) + pick(ports) + pick(["", paths()]) + pick(queries) + pick(hashes);
const relative = () => pick(["", "", pick(slashes) + pick(hosts)]) + paths() + pick(queries) + pick(hashes);
const wild = () => some([..."abcC:/\\?#@[]%.|1 0x\t", "..", "//", "%2e", "é", "http:", "file:", "localhost", "::"], 9);
const bases = ["http://h/a/b?q#f", "https://u:p@h:1/x/", "file:///C:/a/b", "file://host/x/y?q", "foo://h/a/b", "foo:/a/b", "mailto:a@b", "data:x?y", "http:", "ws://h"];

const fields = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
const read = (url) => fields.map((name) => url[name]).join("\n");
const attempt = (make) => {
  try {
    return make();
  } catch {
    return null;
  }
};
const differs = (input, base) =>
  // `^` in a path was left alone, and the space before `?` or `#` at the end of a path without segments.
  /\^/.test(input) ||
  / [\t\n\r]*([?#]|$)/.test(input) ||
  // More than a fragment was resolved against a base that has no segments.
  (/^(mailto|data|blob):/.test(base ?? "") && /^[^#]*[^#\0-\x20]+[^#]*#/.test(input));
// `d:x` was taken for a drive; a path without a special scheme that `..` empties became none.
const misread = (url) => (url.protocol === "file:" && /\/[a-z]:[^/]/i.test(url.href)) || (!/^(https?|wss?|ftp|file):/.test(url.href) && url.pathname === "");
const differsWhenSet = (href, name, value) =>
  /[\^ ]/.test(value) ||
  (/^foo:/.test(href) && name === "pathname" && value === "..") ||
  (/^foo:/.test(href) && /^host/.test(name) && /^$|:/.test(value)); // an empty host, or its port, was handled otherwise

const differsInForms = (text) => /[^\0-\x7f]/.test(text) && attempt(() => decodeURIComponent(text.toWellFormed())) === null; // mixed up bytes

const web = { parse: [], set: [], params: [], decode: [] };
const seen = new Set();
while (web.parse.length < count * 3) {
  const input = pick([whole, whole, relative, wild])();
  const base = pick([null, ...bases]);
  if (differs(input, base) || /\/[a-z]:[^/]+\/.*(\.|%2e)/i.test(input) || seen.has(input + base)) continue;
  seen.add(input + base);
  const url = attempt(() => new URL(input, base ?? undefined));
  if (url !== null && misread(url)) continue;
  web.parse.push([input, base, url && read(url)]);
}
const values = {
  protocol: ["https", "http:", "file", "foo", "ws:x", "", "1", "https://x", "bar"],
  username: ["", "me", "a@b:c/d", "é'|"],
  password: ["", "pw", "a@b:c/d", "é'|"],
  host: [...hosts, "h:8", "h:8x", "h:", ":8", "h:99999", "h/p", "h?q", "h#f", "h\\p", "u@h"],
  hostname: [...hosts, "h:8", "h:", "h/p", "h?q"],
  port: ["", "8", "80", "443", "8x", "x", "65536", "99", "\t9", " 9"],
  pathname: ["", "/", "x", "/a/../b", "\\x", "?#", "//h", "/C|/x", "é b", "..", "/.//p"],
  search: ["", "?", "a=1", "?a b'", "é#", "??"],
  hash: ["", "#", "x", "#a b`", "é#"],
  href: ["http://new/", "x", "foo:bar"],
};
while (web.set.length < count * 2) {
  const start = attempt(() => new URL(pick([...bases, "foo:///p", "foo:/.//p", "file:///", "https://h:8443/", "http://u@h/", "blob:x"])));
  if (start === null) continue;
  const before = start.href;
  const name = pick(Object.keys(values));
  const value = pick(values[name]);
  if (differsWhenSet(before, name, value)) continue;
  attempt(() => (start[name] = value));
  web.set.push([before, name, value, read(start)]);
}
while (web.params.length < count) {
  const text = some(["a", "b", "c=1", "=", "&", "&", "+", "%20", "%zz", "%", "%e9", "%C3%A9", "%u0041", "é", "😀", "\ud800", "?", "#", "~!*'()-._", "\n", "a=2&a=3"], 8);
  if (differsInForms(text)) continue;
  const params = new URLSearchParams(text);
  const listed = [...params].flat();
  const has = params.getAll("a");
  const written = params.toString();
  params.sort();
  params.set("a", "ß +");
  params.delete("b");
  web.params.push([text, [listed, has, written, params.toString()]]);
}
const parts = ["61", "7f", "c3a9", "e282ac", "f09f9880", "efbbbf", "efbfbd", "c3", "e282", "f09f98", "80", "bf", "c080", "c1", "eda080", "ed9fbf", "f48fbfbf", "f4908080", "f5", "ff", "e08080", "e0a080", "f0808080", "e2", "f0", "00"];
while (web.decode.length < count) {
  const hex = some(parts, 7);
  const bytes = Buffer.from(hex, "hex");
  const strict = attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  web.decode.push([hex, [new TextDecoder().decode(bytes), new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), strict]]);
}

const lines = Object.entries(web).map(([kind, rows]) => `${JSON.stringify(kind)}:[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]`);
process.stdout.write(`{${lines.join(",\n")}}\n`);
