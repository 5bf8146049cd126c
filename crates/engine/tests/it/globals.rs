//! The globals of the web platform that the engine lacks, and the engine's own ones whose answers could depend on the machine.

use refrain_engine::{Limits, Start, Status, source};

use crate::{block, engine, start};

/// The files of `guest/lib`, in the order in which they are called.
const FILES: [&str; 8] = [
    include_str!("../../guest/lib/clone.js"),
    include_str!("../../guest/lib/text.js"),
    include_str!("../../guest/lib/crypto.js"),
    include_str!("../../guest/lib/abort.js"),
    include_str!("../../guest/lib/percent.js"),
    include_str!("../../guest/lib/host.js"),
    include_str!("../../guest/lib/record.js"),
    include_str!("../../guest/lib/url.js"),
];
const PRIMORDIALS: &str = include_str!("../../guest/lib/primordials.js");

/// Small things that the scripts below use.
const HELP: &str = r#"
const fails = (make) => { try { make(); return "nothing" } catch (e) { return `${e.name}: ${e.message}` } };
const same = (got, want) => { if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${JSON.stringify(got)} is not ${JSON.stringify(want)}`) };
"#;

/// `script`, with the globals put in place before it. Timers go to `timers`.
fn with_globals(script: &str) -> String {
    let mut text = format!(
        "const timers = []; {{ const env = {{ setTimeout: (f, ms) => timers.push({{ f, ms }}), primordials: ({PRIMORDIALS})() }};\n"
    );
    for file in FILES {
        text += &format!(
            "for (const [name, value] of Object.entries(({file})(env))) Object.defineProperty(globalThis, name, {{ value, writable: true, configurable: true }});\n"
        );
    }
    text + "}\n" + HELP + script
}

fn run(script: &str, start: &Start) -> String {
    let prepared = source::prepare(&with_globals(script)).unwrap();
    let mut sandbox = engine().sandbox(Limits::default()).unwrap();
    match block(sandbox.start(&prepared.javascript, start)).status {
        Status::Returned(json) => json.unwrap_or_default(),
        Status::Threw(thrown) => panic!("{:?}: {}", thrown.name, thrown.message),
        other => panic!("{other:?}"),
    }
}

fn returned(script: &str) -> String {
    run(script, &start())
}

/// Runs `script` with the vectors as `args`. It returns what differs.
fn differences(script: &str) -> String {
    let vectors = include_str!("../vectors/web.json");
    run(script, &Start { facts: format!(r#"{{"args":{vectors},"tools":{{}}}}"#), ..start() })
}

#[test]
fn urls_are_parsed_as_another_implementation_does() {
    let script = r#"
        const fields = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
        const wrong = [];
        for (const [input, base, want] of args.parse) {
            let got = null;
            try { const url = new URL(input, base ?? undefined); got = fields.map((name) => url[name]).join("\n") } catch (e) { if (!(e instanceof TypeError)) throw e }
            if (got !== want) wrong.push({ input, base, want, got });
            if (URL.canParse(input, base ?? undefined) !== (want !== null)) wrong.push({ input, base, canParse: want === null });
        }
        return wrong"#;
    assert_eq!(differences(script), "[]");
}

#[test]
fn a_part_of_a_url_is_set_as_another_implementation_does() {
    let script = r#"
        const fields = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
        const wrong = [];
        for (const [href, name, value, want] of args.set) {
            const url = new URL(href);
            try { url[name] = value } catch (e) { if (name !== "href") throw e }
            const got = fields.map((name) => url[name]).join("\n");
            if (got !== want) wrong.push({ href, name, value, want, got });
        }
        return wrong"#;
    assert_eq!(differences(script), "[]");
}

#[test]
fn search_parameters_are_read_and_written_as_another_implementation_does() {
    let script = r#"
        const wrong = [];
        for (const [text, want] of args.params) {
            const params = new URLSearchParams(text);
            const got = [[...params].flat(), params.getAll("a"), params.toString()];
            params.sort();
            params.set("a", "ß +");
            params.delete("b");
            got.push(params.toString());
            if (JSON.stringify(got) !== JSON.stringify(want)) wrong.push({ text, want, got });
        }
        return wrong"#;
    assert_eq!(differences(script), "[]");
}

#[test]
fn bytes_become_text_as_another_implementation_does_in_one_piece_and_byte_by_byte() {
    let script = r#"
        const wrong = [];
        for (const [hex, want] of args.decode) {
            const bytes = Uint8Array.fromHex(hex);
            const whole = (options) => { try { return new TextDecoder("utf-8", options).decode(bytes) } catch (e) { if (!(e instanceof TypeError)) throw e; return null } };
            const parts = (options) => {
                const decoder = new TextDecoder("utf-8", options);
                let text = "";
                try {
                    for (const byte of bytes) text += decoder.decode(new Uint8Array([byte]), { stream: true });
                    return text + decoder.decode();
                } catch (e) { if (!(e instanceof TypeError)) throw e; return null }
            };
            for (const decode of [whole, parts]) {
                const got = [decode({}), decode({ ignoreBOM: true }), decode({ fatal: true })];
                if (JSON.stringify(got) !== JSON.stringify(want)) wrong.push({ hex, want, got });
            }
        }
        return wrong"#;
    assert_eq!(differences(script), "[]");
}

#[test]
fn where_the_standard_moved_on_urls_follow_it() {
    for (input, href) in [
        ("http://h/^", "http://h/%5E"),
        ("data:x #a", "data:x%20#a"),
        ("foo://h/a/..", "foo://h/"),
        ("file:///d:x/../y", "file:///y"),
    ] {
        assert_eq!(returned(&format!("return new URL({input:?}).href")), format!("{href:?}"));
    }
    assert_eq!(
        returned(
            "const u = new URL('foo:/a/b'); u.host = ''; u.port = '8'; const v = new URL('foo://h/p'); v.host = ':8'; return [u.href, v.href]"
        ),
        r#"["foo:///a/b","foo://h/p"]"#
    );
    assert_eq!(returned("return fails(() => new URL('/x#y', 'mailto:a'))").split(':').next(), Some("\"TypeError"));
}

#[test]
fn what_is_no_url_is_named_with_what_to_give_instead() {
    assert_eq!(
        returned("return [fails(() => new URL('/x')), fails(() => new URL('http://[', 'http://h'))]"),
        r#"["TypeError: `/x` is not a URL; give the whole of it, like `https://host/path`, or a base as second argument","TypeError: `http://[` is not a URL; the base is `http://h`"]"#
    );
    assert_eq!(
        returned("return [URL.parse('/x'), String(URL.parse('/x', 'http://h')), URL.canParse('/x')]"),
        r#"[null,"http://h/x",false]"#
    );
    assert_eq!(
        returned("return fails(() => new URLSearchParams([['a']]))"),
        r#""TypeError: each pair given to `URLSearchParams` has a name and a value, and one has length 1""#
    );
    assert_eq!(
        returned("return fails(() => new URLSearchParams().append('a'))"),
        r#""TypeError: `URLSearchParams.append` takes 2 arguments and got 1""#
    );
}

#[test]
fn a_url_and_its_search_parameters_follow_each_other() {
    let script = r#"
        const url = new URL("https://h/p?a=1&b=2&a=3#x");
        const params = url.searchParams;
        same([...params.keys()], ["a", "b", "a"]);
        params.append("c d", "é&");
        same(url.href, "https://h/p?a=1&b=2&a=3&c+d=%C3%A9%26#x");
        params.set("a", "9");
        same(url.search, "?a=9&b=2&c+d=%C3%A9%26");
        url.search = "z=1";
        same([params === url.searchParams, params.get("z"), params.get("a"), params.size], [true, "1", null, 1]);
        url.href = "https://other/?y=2";
        same(params.toString(), "y=2");
        params.delete("y");
        same([url.href, JSON.stringify({ url }), `${url}`], ["https://other/", '{"url":"https://other/"}', "https://other/"]);
        const seen = [];
        params.append("k", "v");
        params.forEach((value, name, all) => seen.push(value, name, all === params));
        same(seen, ["v", "k", true]);
        same([...new URLSearchParams({ a: 1, b: [2, 3] })], [["a", "1"], ["b", "2,3"]]);
        same(new URLSearchParams(new Map([["a", "b"]])).toString(), "a=b");
        same(new URLSearchParams(new URLSearchParams("?a=b&a=c")).toString(), "a=b&a=c");
        same([new URLSearchParams("a=1&a=2").has("a", "2"), new URLSearchParams("a=1").has("a", "2")], [true, false]);
        return "ok""#;
    assert_eq!(returned(script), "\"ok\"");
}

#[test]
fn a_clone_is_equal_and_shares_nothing() {
    let script = r#"
        const from = {
            list: [1, , "x", null, undefined], when: new Date(5), pattern: /a(b)/giu, big: 10n, boxed: [Object(1), Object("s"), Object(false), Object(2n)],
            map: new Map([[{ k: 1 }, new Set([2, "3"])]]), bytes: new Uint16Array([1, 2, 3]).subarray(1), view: new DataView(new ArrayBuffer(8), 2, 4),
            ["__proto__"]: "own", toString: "own", nan: NaN, zero: -0,
        };
        from.self = from;
        from.again = from.bytes.buffer;
        from.pattern.lastIndex = 2;
        from.error = Object.assign(new RangeError("deep", { cause: [from] }), { extra: 1 });
        const to = structuredClone(from);
        same([to.self === to, to !== from, 1 in to.list, to.list.length, 4 in to.list], [true, true, false, 5, true]);
        same([to.when.getTime(), to.when !== from.when, String(to.pattern), to.pattern.lastIndex], [5, true, "/a(b)/giu", 0]);
        same([to.big === 10n, ...to.boxed.map((x) => [typeof x, Object.prototype.toString.call(x)].join())], [true, "object,[object Number]", "object,[object String]", "object,[object Boolean]", "object,[object BigInt]"]);
        const [[key, value]] = to.map;
        same([key.k, [...value], value !== from.map.get([...from.map.keys()][0])], [1, [2, "3"], true]);
        same([[...to.bytes], to.bytes.byteOffset, to.bytes.buffer === to.again, to.again !== from.again], [[2, 3], 2, true, true]);
        same([to.view.byteOffset, to.view.byteLength, to.view.buffer.byteLength], [2, 4, 8]);
        same([Object.hasOwn(to, "__proto__"), to.toString, Object.getPrototypeOf(to) === Object.prototype], [true, "own", true]);
        same([Number.isNaN(to.nan), Object.is(to.zero, -0)], [true, true]);
        same([to.error instanceof RangeError, to.error.name, to.error.message, to.error.cause[0] === to, "extra" in to.error], [true, "RangeError", "deep", true, false]);
        same(Object.getOwnPropertyNames(to.error).sort(), ["cause", "message", "stack"]);
        class Point { x = 1; get y() { return 2 } static z = 3 }
        same([structuredClone(new Point()), structuredClone(new Point()) instanceof Point], [{ x: 1 }, false]);
        class Wrong extends TypeError { name = "Wrong" }
        same([structuredClone(new Wrong("m")).name, structuredClone(new Wrong("m")) instanceof TypeError], ["Error", false]);
        const refused = structuredClone(new DOMException("m", "AbortError"));
        same([refused.name, refused.message, refused.code], ["AbortError", "m", 20]);
        same(structuredClone(Object.create(null, { a: { value: 1, enumerable: true }, b: { value: 2 } })), { a: 1 });
        return "ok""#;
    assert_eq!(returned(script), "\"ok\"");
}

#[test]
fn no_nesting_is_too_deep_for_a_clone() {
    let script = "let deep = []; for (let i = 0; i < 50000; i++) deep = i % 2 ? [deep] : { deep };
        let count = 0; for (let at = structuredClone(deep); at; at = Array.isArray(at) ? at[0] : at.deep) count++; return count";
    assert_eq!(returned(script), "50001");
}

#[test]
fn what_cannot_be_cloned_is_refused_with_its_place() {
    for (value, message) in [
        ("{ a: [{ go() {} }] }", "a function, at `go`, cannot be cloned"),
        ("Symbol('s')", "a symbol cannot be cloned"),
        ("[Object(Symbol())]", "a value of the class `Symbol`, at `0`, cannot be cloned"),
        ("{ p: Promise.resolve() }", "a value of the class `Promise`, at `p`, cannot be cloned"),
        ("new WeakMap()", "a value of the class `WeakMap` cannot be cloned"),
        ("[1].values()", "a value of the class `Iterator` cannot be cloned"),
        ("new URL('http://h')", "a value of the class `URL` cannot be cloned"),
        ("new AbortController().signal", "a value of the class `AbortSignal` cannot be cloned"),
        (
            "(() => { const b = new ArrayBuffer(1); b.transfer(); return b })()",
            "an ArrayBuffer that is detached cannot be cloned",
        ),
    ] {
        let got = returned(&format!("return fails(() => structuredClone({value}))"));
        assert_eq!(got, serde_json::to_string(&format!("DataCloneError: {message}")).unwrap());
    }
    assert_eq!(
        returned("return fails(() => structuredClone())"),
        r#""TypeError: `structuredClone` takes 1 argument and got 0""#
    );
}

#[test]
fn a_buffer_is_handed_over_only_when_all_goes_well() {
    let script = r#"
        const bytes = new Uint8Array([1, 2]);
        same(fails(() => structuredClone([bytes, () => 1], { transfer: [bytes.buffer] })), "DataCloneError: a function, at `1`, cannot be cloned");
        same(bytes.length, 2);
        const to = structuredClone({ bytes }, { transfer: [bytes.buffer] });
        same([[...to.bytes], bytes.length, bytes.buffer.detached], [[1, 2], 0, true]);
        same(fails(() => structuredClone(1, { transfer: [bytes.buffer] })), "DataCloneError: an ArrayBuffer in `transfer` is detached already");
        same(fails(() => structuredClone(1, { transfer: [{}] })), "DataCloneError: only an ArrayBuffer can be in `transfer`");
        const twice = new ArrayBuffer(1);
        same(fails(() => structuredClone(1, { transfer: [twice, twice] })), "DataCloneError: an ArrayBuffer is in `transfer` twice");
        const grows = structuredClone(new ArrayBuffer(1, { maxByteLength: 4 }));
        same([grows.resizable, grows.maxByteLength], [true, 4]);
        return "ok""#;
    assert_eq!(returned(script), "\"ok\"");
}

#[test]
fn text_becomes_bytes() {
    let script = r#"
        same([...new TextEncoder().encode("aé€😀\ud800")], [97, 195, 169, 226, 130, 172, 240, 159, 152, 128, 239, 191, 189]);
        same([...new TextEncoder().encode()], []);
        const room = new Uint8Array(8);
        same(new TextEncoder().encodeInto("aé€😀x", room), { read: 3, written: 6 });
        same([...room], [97, 195, 169, 226, 130, 172, 0, 0]);
        same(new TextEncoder().encodeInto("aé", room.subarray(6)), { read: 1, written: 1 });
        same([new TextEncoder().encoding, new TextDecoder("UTF8 ").encoding], ["utf-8", "utf-8"]);
        same(new TextDecoder().decode(new DataView(new TextEncoder().encode("xabcx").buffer, 1, 3)), "abc");
        same(fails(() => new TextDecoder("latin1")), "RangeError: the encoding `latin1` is not supported: `TextDecoder` knows `utf-8` only");
        same(fails(() => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255]))), "TypeError: the bytes are not valid UTF-8; without `fatal` what is wrong becomes U+FFFD");
        same(fails(() => new TextDecoder().decode("x")), "TypeError: `TextDecoder.decode` takes an ArrayBuffer or a view on one");
        const long = "aé€😀".repeat(20000);
        same(new TextDecoder().decode(new TextEncoder().encode(long)) === long, true);
        return "ok""#;
    assert_eq!(returned(script), "\"ok\"");
}

#[test]
fn base64_is_the_engines_and_refuses_what_does_not_fit() {
    let script = r#"
        same([btoa("\xff\0a"), atob(" /wB h\n"), atob("YQ"), btoa("")], ["/wBh", "\xff\0a", "a", ""]);
        same([fails(() => btoa("€")).split(":")[0], fails(() => atob("a")).split(":")[0], fails(() => atob("a=b=")).split(":")[0]], Array(3).fill("InvalidCharacterError"));
        return "ok""#;
    assert_eq!(returned(script), "\"ok\"");
}

#[test]
fn aborting_is_told_once_in_order_with_its_reason() {
    let script = r#"
        const told = [];
        const controller = new AbortController();
        const { signal } = controller;
        const any = AbortSignal.any([signal, new AbortController().signal]);
        const nested = AbortSignal.any([any]);
        const twice = () => told.push("twice");
        const removed = () => told.push("removed");
        signal.addEventListener("abort", twice);
        signal.addEventListener("abort", twice);
        signal.onabort = function (event) { told.push(event.type, event.isTrusted, event.target === signal, this === signal, any.aborted && nested.aborted) };
        signal.addEventListener("abort", removed);
        signal.removeEventListener("abort", removed);
        signal.addEventListener("abort", { handleEvent() { told.push("object") } }, { once: true });
        signal.addEventListener("abort", () => told.push("never"), { signal: AbortSignal.abort() });
        any.addEventListener("abort", () => told.push("any"));
        nested.onabort = () => told.push("replaced");
        nested.onabort = () => told.push("nested");
        same([signal.aborted, signal.reason, fails(() => signal.throwIfAborted())], [false, undefined, "nothing"]);
        controller.abort();
        controller.abort("again");
        same(told, ["twice", "abort", true, true, true, true, "object", "any", "nested"]);
        same([signal.aborted, nested.reason === signal.reason, fails(() => signal.throwIfAborted())], [true, true, "AbortError: the operation was aborted"]);
        same(fails(() => AbortSignal.abort(new Error("mine")).throwIfAborted()), "Error: mine");
        same([AbortSignal.any([AbortSignal.abort(1), AbortSignal.abort(2)]).reason, AbortSignal.any([]).aborted], [1, false]);
        same([signal instanceof EventTarget, fails(() => new AbortSignal()).slice(0, 9), fails(() => AbortSignal.any([{}]))], [true, "TypeError", "TypeError: `AbortSignal.any` takes AbortSignals only"].map((x, i) => i === 1 ? "TypeError:".slice(0, 9) : x));
        return "ok""#;
    assert_eq!(returned(script), "\"ok\"");
}

#[test]
fn a_timeout_aborts_through_the_timer_that_the_host_journals() {
    let script = r#"
        const signal = AbortSignal.timeout(25);
        same([timers.length, timers[0].ms, signal.aborted], [1, 25, false]);
        timers[0].f();
        same([signal.aborted, signal.reason.name, signal.reason.message], [true, "TimeoutError", "the operation was aborted after 25 ms"]);
        same(fails(() => AbortSignal.timeout(-1)), "TypeError: `AbortSignal.timeout` takes a number of milliseconds that is not negative");
        return "ok""#;
    assert_eq!(returned(script), "\"ok\"");
}

#[test]
fn a_listener_that_throws_stops_neither_the_others_nor_the_one_who_aborts() {
    let script = r#"
        const told = [];
        const controller = new AbortController();
        controller.signal.addEventListener("abort", () => { throw new Error("listener") });
        controller.signal.addEventListener("abort", () => told.push("second"));
        controller.abort();
        const target = new EventTarget();
        target.addEventListener("x", (event) => event.preventDefault());
        target.addEventListener("x", (event) => { told.push(event.isTrusted); event.stopImmediatePropagation() });
        target.addEventListener("x", () => told.push("never"));
        told.push(target.dispatchEvent(new Event("x", { cancelable: true })), target.dispatchEvent(new Event("y")));
        return told"#;
    assert_eq!(returned(script), r#"["second",false,false,true]"#);
}

#[test]
fn identifiers_come_from_the_seed() {
    let script = r#"const bytes = crypto.getRandomValues(new Uint8Array(64));
        return [crypto.randomUUID(), new Set(bytes).size > 40, crypto.getRandomValues(new BigInt64Array(1))[0] !== 0n, Object.prototype.toString.call(crypto)]"#;
    let first = returned(script);
    assert_eq!(first, returned(script));
    assert_ne!(first, run(script, &Start { seed: 43, ..start() }));
    let uuid = serde_json::from_str::<Vec<serde_json::Value>>(&first).unwrap()[0].as_str().unwrap().to_owned();
    let shape: String = uuid.chars().map(|c| if c.is_ascii_hexdigit() { 'x' } else { c }).collect();
    assert_eq!(shape, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
    assert!(uuid[14..].starts_with('4') && "89ab".contains(&uuid[19..20]), "{uuid}");
    assert_eq!(
        returned(
            "return [fails(() => crypto.getRandomValues(new Float32Array(1))), fails(() => crypto.getRandomValues(new Uint8Array(65537)))].map((x) => x.split(':')[0])"
        ),
        r#"["TypeMismatchError","QuotaExceededError"]"#
    );
}

#[test]
fn the_locale_is_fixed() {
    assert_eq!(
        returned(
            r#"const when = new Date(Date.UTC(2024, 1, 3, 14, 5, 6));
            return [(1234567.891).toLocaleString("de-DE"), (12345678901234567890n).toLocaleString(), when.toLocaleString("de-DE", { timeZone: "Asia/Tokyo" }), when.toLocaleDateString(), when.toLocaleTimeString(),
                [1.5, when].toLocaleString(), "I".toLocaleLowerCase("tr"), "i".toLocaleUpperCase("tr"), ["b", "a", "B", "é", "z", "e\u0301x"].sort((a, b) => a.localeCompare(b)).join("").normalize(), "\u00e9".localeCompare("e\u0301"), typeof Intl]"#
        ),
        r#"["1234567.891","12345678901234567890","02/03/2024, 02:05:06 PM","02/03/2024","02:05:06 PM","1.5,02/03/2024, 02:05:06 PM","i","I","Babzééx",0,"undefined"]"#
    );
}

#[test]
fn classes_look_like_those_of_the_platform() {
    let script = r#"
        const shape = (Class) => [Class.name, Class.length, Object.prototype.toString.call(Object.create(Class.prototype)), Object.keys(Class).join(), Object.keys(Class.prototype).join()].join(" ");
        return [URL, URLSearchParams, TextEncoder, TextDecoder, AbortController, AbortSignal, EventTarget].map(shape).concat(
            Object.prototype.toString.call(new URLSearchParams().keys()),
            new URLSearchParams("a").entries()[Symbol.iterator]().next().value.join(),
            URLSearchParams.prototype[Symbol.iterator] === URLSearchParams.prototype.entries,
            fails(() => URL.prototype.href).split(":")[0], fails(() => URL("http://h")).split(":")[0],
            [structuredClone.name, structuredClone.length, URL.canParse.length, URLSearchParams.prototype.append.length].join(),
            class extends URL { get x() { return this.host } } .name, new (class Sub extends URL { get x() { return this.host } })("http://h").x,
            ["env", "primordials"].filter((name) => name in globalThis).length,
        )"#;
    let rows: Vec<serde_json::Value> = serde_json::from_str(&returned(script)).unwrap();
    let text: Vec<String> =
        rows.iter().map(|row| row.as_str().map_or_else(|| row.to_string(), str::to_owned)).collect();
    assert_eq!(
        text,
        [
            "URL 1 [object URL] canParse,parse href,origin,protocol,username,password,host,hostname,port,pathname,search,searchParams,hash,toString,toJSON",
            "URLSearchParams 0 [object URLSearchParams]  size,append,delete,get,getAll,has,set,sort,forEach,entries,keys,values,toString",
            "TextEncoder 0 [object TextEncoder]  encoding,encode,encodeInto",
            "TextDecoder 0 [object TextDecoder]  encoding,fatal,ignoreBOM,decode",
            "AbortController 0 [object AbortController]  signal,abort",
            "AbortSignal 0 [object AbortSignal] abort,timeout,any aborted,reason,throwIfAborted,onabort",
            "EventTarget 0 [object EventTarget]  addEventListener,removeEventListener,dispatchEvent",
            "[object URLSearchParams Iterator]",
            "a,",
            "true",
            "TypeError",
            "TypeError",
            "structuredClone,1,1,2",
            "",
            "h",
            "0",
        ]
    );
}

/// Uses everything once, and returns one string made without any built-in.
const USE: &str = r#"
    const use = () => {
        let out = "";
        const url = new URL("../x y?b=2&a=%C3%A9%zz&b=3#é", "http://ü:p@Bücher.example:80/q/./r?s");
        out += url.href + "|" + url.origin + "|";
        const params = url.searchParams;
        params.append("c", "+"); params.sort(); params.set("b", "1"); params.delete("a", "no");
        const all = params.getAll("b");
        out += url.search + "|" + all[0] + "|" + params.size + "|" + new URL("http://[1::0.0.0.1]:8/").host + "|" + new URL("http://0x7f.1").host + "|";
        const iterator = params.entries();
        const first = iterator.next();
        out += first.value[0] + first.value[1] + first.done + "|";
        params.forEach((value, name) => { out += name + value });
        url.host = "new:9"; url.pathname = "/a/../b"; url.hash = "h"; url.protocol = "https"; url.username = "@";
        out += url.href + new URLSearchParams(pairs).toString() + new URLSearchParams(record).toString() + URL.canParse("x") + "|";
        const bytes = new TextEncoder().encode("é😀\ud800");
        for (let i = 0; i < 9; i++) out += bytes[i] + ",";
        const decoder = new TextDecoder();
        out += new TextDecoder().decode(bytes) + decoder.decode(broken, stream) + decoder.decode() + new TextEncoder().encodeInto("€", small).read + "|";
        const to = structuredClone(value);
        out += (to.self === to) + "" + to.list[0] + to.list.length + hasOwn(to.list, 1) + size(to.map) + size(to.set) + time(to.date) + source(to.pattern) + to.error.message + to.bytes[1] + length(to.buffer) + to["__proto__"].x + "|";
        try { structuredClone(() => 1) } catch (e) { out += exceptionName(e) + "|" }
        const controller = new AbortController();
        const any = AbortSignal.any(([controller.signal]));
        any.addEventListener("abort", (event) => { out += event.type + event.isTrusted });
        any.onabort = () => { out += "on" };
        controller.abort();
        out += any.aborted + exceptionName(any.reason) + "|";
        const random = crypto.getRandomValues(small);
        out += (random === small) + crypto.randomUUID()[8];
        return out;
    };
    const pairs = [["a", "b"]], record = { c: "d" }, stream = { stream: true }, small = new Uint8Array(2), broken = new Uint8Array([0x61, 0xff, 0xe2, 0x82]);
    const value = { list: [1, , 3], map: new Map([[1, 2]]), set: new Set([1]), date: new Date(7), pattern: /x/g, error: new TypeError("m", { cause: 1 }), bytes: new Uint8Array([1, 2]), buffer: new ArrayBuffer(3), ["__proto__"]: { x: 5 } };
    value.self = value;
    const take = (prototype, name) => { const { get } = Object.getOwnPropertyDescriptor(prototype, name); return Function.prototype.call.bind(get) };
    const size = (object) => (object === undefined ? "" : sizes[0](object) ?? "");
    const { hasOwn } = Object;
    const exceptionName = take(DOMException.prototype, "name");
    const mapSize = take(Map.prototype, "size"), setSize = take(Set.prototype, "size");
    const sizes = { 0: (object) => { try { return mapSize(object) } catch { return setSize(object) } } };
    const time = Function.prototype.call.bind(Date.prototype.getTime), source = take(RegExp.prototype, "source"), length = take(ArrayBuffer.prototype, "byteLength");
"#;

/// Replaces every global, and every method and accessor of every built-in that lets itself be changed, with one that throws; and puts
/// traps where a careless reader steps. In the sandbox the built-ins are frozen, so only the globals fall; where they are not, as in
/// the engine's own shell, all of it does, and the answers are the same.
const SABOTAGE: &str = r#"
    const seen = new Set();
    const queue = [];
    const ours = new Set(["URL", "URLSearchParams", "TextEncoder", "TextDecoder", "AbortController", "AbortSignal", "Event", "EventTarget", "structuredClone", "crypto"]);
    const kept = new Set([...ours, "tools", "args", "globalThis"]);
    for (const name of Object.getOwnPropertyNames(globalThis)) if (!kept.has(name)) queue.push(globalThis[name]);
    queue.push(Object.getPrototypeOf([][Symbol.iterator]()), Object.getPrototypeOf(new Map().entries()), Object.getPrototypeOf(new Set().values()), Object.getPrototypeOf(""[Symbol.iterator]()), Object.getPrototypeOf(Uint8Array), Object.getPrototypeOf(Uint8Array.prototype), Object.getPrototypeOf(function* () {}), Object.getPrototypeOf(async function () {}));
    const all = [];
    while (queue.length) {
        const object = queue.pop();
        if ((typeof object !== "object" && typeof object !== "function") || object === null || object === globalThis || seen.has(object)) continue;
        seen.add(object);
        for (const key of Reflect.ownKeys(object)) {
            const found = Object.getOwnPropertyDescriptor(object, key);
            if ("value" in found) queue.push(found.value);
            all.push([object, key, found]);
        }
    }
    const put = Reflect.defineProperty;
    const sabotage = () => {
        const trap = function () { throw "a built-in was looked up" };
        for (let i = 0; i < all.length; i++) {
            const object = all[i][0], key = all[i][1], found = all[i][2];
            if (!found.configurable || key === "constructor") continue;
            if (typeof found.value === "function") put(object, key, { __proto__: null, value: trap, configurable: true, writable: true });
            else if (found.get !== undefined) put(object, key, { __proto__: null, get: trap, set: trap, configurable: true });
        }
        const keys = ["0", "1", "2", "3", "get", "set", "value", "writable", "maxByteLength", "fatal", "stream", "capture", "once", "signal", "transfer", "host", "query", "type", "cause", "handleEvent"];
        for (let i = 0; i < keys.length; i++) {
            // What an options object inherits is the script's to decide, so these are read and must be harmless.
            const read = i > 7 && i < 15;
            put(ObjectPrototype, keys[i], { __proto__: null, get: read ? () => undefined : trap, set: trap, configurable: true });
            put(ArrayPrototype, keys[i], { __proto__: null, get: read ? () => undefined : trap, set: trap, configurable: true });
        }
        for (let i = 0; i < names.length; i++) put(globalThis, names[i], { __proto__: null, value: trap, writable: true, configurable: true });
    };
    const names = Object.getOwnPropertyNames(globalThis).filter((name) => !kept.has(name));
    const ObjectPrototype = Object.prototype, ArrayPrototype = Array.prototype;
"#;

#[test]
fn a_script_that_changes_every_built_in_changes_no_answer() {
    let script = format!(
        "{USE}{SABOTAGE} const before = use(); sabotage(); const after = use(); return before === after ? \"ok\" : before + \"\\n\" + after"
    );
    assert_eq!(returned(&script), "\"ok\"");
}

#[test]
fn frozen_built_ins_are_enough() {
    let script = format!("{USE}{SABOTAGE} const before = use(); for (const object of seen) Object.freeze(object); for (const name of ours) {{ Object.freeze(globalThis[name]); Object.freeze(globalThis[name].prototype) }}
        return before === use() ? 'ok' : use()");
    assert_eq!(returned(&script), "\"ok\"");
}
