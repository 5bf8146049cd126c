// What a URL consists of: a record, its parser, its parts as text, and how a part is changed. By the URL standard (url.spec.whatwg.org).
//
// The standard's parser goes character by character from state to state. This one cuts the parts out, which comes to the same, since
// `#` ends every part before it and `?` all but the fragment. The vectors in the tests hold it to that.
(env) => {
  "use strict";
  const { uncurry, charCodeAt, exec, indexOf, list, slice, toLowerCase } = env.primordials;
  const { CONTROLS, encode, FRAGMENT, PATH, QUERY, SPECIAL_QUERY, USERINFO } = env.percent;
  const { parseHost } = env;
  const lastIndexOf = uncurry(String.prototype.lastIndexOf);
  const number = parseInt;

  const PORTS = { __proto__: null, http: 80, https: 443, ws: 80, wss: 443, ftp: 21, file: null };
  const SCHEME = /^[a-z][-+.0-9a-z]*(?=:)/i;
  const DRIVE = /^[a-z][:|]$/i;
  const DRIVE_FIRST = /^[a-z][:|](?:[/\\?#]|$)/i;
  const DOT = /^(?:\.|%2e)$/i;
  const DOTS = /^(?:\.|%2e){2}$/i;
  const DIGITS = /^[0-9]*/;
  const matches = (pattern, text) => exec(pattern, text) !== null;

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

  const setQuery = (url, text) => (url.query = encode(dropBreaks(text), isSpecial(url) ? SPECIAL_QUERY : QUERY));
  const setFragment = (url, text) => (url.fragment = encode(dropBreaks(text), FRAGMENT));

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
    if (url.opaque !== null) return;
    text = dropBreaks(text);
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
    const scheme = exec(SCHEME, dropBreaks(text) + ":");
    if (scheme === null) return;
    const next = { __proto__: null, scheme: toLowerCase(scheme[0]) };
    if (isSpecial(url) !== isSpecial(next)) return;
    if (next.scheme === "file" && (hasCredentials(url) || url.port !== null)) return;
    if (url.scheme === "file" && url.host === "") return;
    url.scheme = next.scheme;
    if (url.port === PORTS[url.scheme]) url.port = null;
  };
  // An address without a host, or of a file, has neither user nor port.
  const hasAuthority = (url) => url.host !== null && url.host !== "" && url.scheme !== "file";
  const setUser = (url, part, text) => {
    if (hasAuthority(url)) url[part] = encode(text, USERINFO);
  };
  const setPort = (url, text) => {
    if (!hasAuthority(url)) return;
    if (text === "") url.port = null;
    else takePort(url, exec(DIGITS, dropBreaks(text))[0]);
  };
  const setPath = (url, text) => {
    if (url.opaque !== null) return;
    url.path = list();
    text = dropBreaks(text);
    startPath(url, text);
    if (text === "" && url.host === null) url.path[0] = "";
  };

  env.record = { __proto__: null, parse, pathOf, hostOf, hrefOf, originOf, setQuery, setFragment, setHost, setScheme, setPort, setPath, setUser };
  return {};
}
