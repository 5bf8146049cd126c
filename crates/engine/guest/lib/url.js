// URL and URLSearchParams.
(env) => {
  "use strict";
  const { uncurry, indexOf, list, need, platform, quote, sequence, share, slice, toWellFormed, text: toText } = env.primordials;
  const { decode, encode, FORM } = env.percent;
  const { splitText: split } = env;
  const { parse, pathOf, hostOf, hrefOf, originOf, setQuery, setFragment, setHost, setScheme, setPort, setPath, setUser } = env.record;
  const { defineProperty, keys, setPrototypeOf } = Object;
  const { apply } = Reflect;
  const { iterator: ITERATOR, toStringTag } = Symbol;
  const sort = uncurry(Array.prototype.sort);
  const ThisTypeError = TypeError;

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
      setScheme(this.#record, usv(value));
    }
    get username() {
      return this.#record.username;
    }
    set username(value) {
      setUser(this.#record, "username", usv(value));
    }
    get password() {
      return this.#record.password;
    }
    set password(value) {
      setUser(this.#record, "password", usv(value));
    }
    get host() {
      return hostOf(this.#record);
    }
    set host(value) {
      setHost(this.#record, usv(value), true);
    }
    get hostname() {
      return this.#record.host ?? "";
    }
    set hostname(value) {
      setHost(this.#record, usv(value), false);
    }
    get port() {
      return this.#record.port === null ? "" : "" + this.#record.port;
    }
    set port(value) {
      setPort(this.#record, usv(value));
    }
    get pathname() {
      return pathOf(this.#record);
    }
    set pathname(value) {
      setPath(this.#record, usv(value));
    }
    get search() {
      const { query } = this.#record;
      return query === null || query === "" ? "" : "?" + query;
    }
    set search(value) {
      const url = this.#record;
      value = usv(value);
      if (value === "") url.query = null;
      else setQuery(url, value[0] === "?" ? slice(value, 1) : value);
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
      else setFragment(url, value[0] === "#" ? slice(value, 1) : value);
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
