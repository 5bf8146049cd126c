// AbortController and AbortSignal, with the Event and EventTarget that they stand on.
//
// There is no tree of targets: an event has one target, and neither captures nor bubbles. What a listener throws does not reach
// whoever aborts; it becomes a rejection that nobody handles, and is reported as such.
(env) => {
  "use strict";
  const { list, need, platform, sequence, text } = env.primordials;
  const { setTimeout } = env;
  const { MAX_SAFE_INTEGER } = Number;
  const { apply } = Reflect;
  const { now } = Date;
  const ThisDOMException = DOMException;
  const ThisPromise = Promise;
  const ThisTypeError = TypeError;

  const report = (error) => new ThisPromise((_, reject) => reject(error));

  let dispatch, fire, listen, unlisten, isSignal, isAborted, reasonOf, whenAborted, makeSignal, abort;

  class Event {
    #type;
    #bubbles;
    #cancelable;
    #time = now();
    #trusted = false;
    #target = null;
    #current = null;
    #prevented = false;
    #stopped = false;
    #passive = false;
    constructor(type, options = undefined) {
      need(arguments.length, 1, "Event");
      this.#type = text(type);
      this.#bubbles = !!options?.bubbles;
      this.#cancelable = !!options?.cancelable;
    }
    get type() {
      return this.#type;
    }
    get target() {
      return this.#target;
    }
    get currentTarget() {
      return this.#current;
    }
    get bubbles() {
      return this.#bubbles;
    }
    get cancelable() {
      return this.#cancelable;
    }
    get defaultPrevented() {
      return this.#prevented;
    }
    get isTrusted() {
      return this.#trusted;
    }
    get timeStamp() {
      return this.#time;
    }
    preventDefault() {
      if (this.#cancelable && !this.#passive) this.#prevented = true;
    }
    stopPropagation() {
      this.#type;
    }
    stopImmediatePropagation() {
      this.#stopped = true;
    }

    static {
      // Calls those listeners that were there when it began and still are.
      dispatch = (target, event, listeners, trusted) => {
        if (event.#current !== null) throw new ThisDOMException("the event is being dispatched already", "InvalidStateError");
        event.#target = event.#current = target;
        event.#stopped = false;
        event.#trusted = trusted;
        const { length } = listeners;
        const snapshot = list();
        for (let i = 0; i < length; i++) snapshot[i] = listeners[i];
        for (let i = 0; i < length && !event.#stopped; i++) {
          const listener = snapshot[i];
          if (listener.removed || listener.type !== event.#type) continue;
          if (listener.once) unlisten(target, listener);
          event.#passive = listener.passive;
          const { callback } = listener;
          try {
            if (typeof callback === "function") apply(callback, target, [event]);
            else callback.handleEvent(event);
          } catch (error) {
            report(error);
          }
        }
        event.#passive = false;
        event.#current = null;
        return !event.#prevented;
      };
    }
  }

  class EventTarget {
    #listeners = list();
    addEventListener(type, callback, options = undefined) {
      need(arguments.length, 2, "addEventListener");
      type = text(type);
      const capture = typeof options === "boolean" ? options : !!options?.capture;
      const once = !!options?.once;
      const passive = !!options?.passive;
      const signal = options?.signal;
      if (signal !== undefined && !isSignal(signal)) throw new ThisTypeError("the option `signal` takes an AbortSignal");
      if (callback === null || callback === undefined) return;
      if (typeof callback !== "function" && typeof callback !== "object") throw new ThisTypeError("a listener is a function, or an object with `handleEvent`");
      if (signal !== undefined && isAborted(signal)) return;
      const listener = listen(this, type, callback, capture, once, passive);
      if (listener !== undefined && signal !== undefined) whenAborted(signal, () => unlisten(this, listener));
    }
    removeEventListener(type, callback, options = undefined) {
      need(arguments.length, 2, "removeEventListener");
      type = text(type);
      const capture = typeof options === "boolean" ? options : !!options?.capture;
      const listeners = this.#listeners;
      for (let i = 0; i < listeners.length; i++) {
        const listener = listeners[i];
        if (listener.type === type && listener.callback === callback && listener.capture === capture) return unlisten(this, listener);
      }
    }
    dispatchEvent(event) {
      need(arguments.length, 1, "dispatchEvent");
      return dispatch(this, event, this.#listeners, false);
    }

    static {
      // Returns the listener, or undefined when there is such a one already.
      listen = (target, type, callback, capture, once, passive) => {
        const listeners = target.#listeners;
        for (let i = 0; i < listeners.length; i++) {
          const listener = listeners[i];
          if (listener.type === type && listener.callback === callback && listener.capture === capture) return undefined;
        }
        const listener = { __proto__: null, type, callback, capture, once, passive, removed: false };
        listeners[listeners.length] = listener;
        return listener;
      };
      unlisten = (target, listener) => {
        listener.removed = true;
        const before = target.#listeners;
        const after = list();
        for (let i = 0; i < before.length; i++) if (before[i] !== listener) after[after.length] = before[i];
        target.#listeners = after;
      };
      fire = (target, type) => dispatch(target, new Event(type), target.#listeners, true);
    }
  }

  const OURS = {};

  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason;
    #steps = list();
    // A signal made by `any` hangs on signals that are not, and never on one that does.
    #sources = null;
    #dependents = list();
    #handler = null;
    #listener;
    constructor(key = undefined) {
      if (key !== OURS) throw new ThisTypeError("an AbortSignal is made by `new AbortController()`, `AbortSignal.any`, `.timeout` or `.abort`");
      super();
    }
    get aborted() {
      return this.#aborted;
    }
    get reason() {
      return this.#reason;
    }
    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }
    get onabort() {
      return this.#handler;
    }
    set onabort(handler) {
      if (this.#listener !== undefined && typeof handler !== "function") {
        unlisten(this, this.#listener);
        this.#listener = undefined;
      }
      this.#handler = typeof handler === "function" ? handler : null;
      if (this.#handler !== null && this.#listener === undefined) {
        this.#listener = listen(this, "abort", (event) => apply(this.#handler, this, [event]), false, false, false);
      }
    }

    static abort(reason = undefined) {
      const signal = new AbortSignal(OURS);
      abort(signal, reason);
      return signal;
    }
    static timeout(milliseconds) {
      need(arguments.length, 1, "AbortSignal.timeout");
      const delay = +milliseconds;
      if (!(delay >= 0 && delay <= MAX_SAFE_INTEGER)) throw new ThisTypeError("`AbortSignal.timeout` takes a number of milliseconds that is not negative");
      const signal = new AbortSignal(OURS);
      setTimeout(() => abort(signal, new ThisDOMException("the operation was aborted after " + delay + " ms", "TimeoutError")), delay);
      return signal;
    }
    static any(signals) {
      need(arguments.length, 1, "AbortSignal.any");
      const given = sequence(signals, "`AbortSignal.any`");
      const signal = new AbortSignal(OURS);
      for (let i = 0; i < given.length; i++) {
        if (!isSignal(given[i])) throw new ThisTypeError("`AbortSignal.any` takes AbortSignals only");
      }
      for (let i = 0; i < given.length; i++) {
        if (given[i].#aborted) {
          abort(signal, given[i].#reason);
          return signal;
        }
      }
      signal.#sources = list();
      for (let i = 0; i < given.length; i++) {
        const sources = given[i].#sources;
        if (sources === null) signal.#hangOn(given[i]);
        else for (let j = 0; j < sources.length; j++) signal.#hangOn(sources[j]);
      }
      return signal;
    }

    #hangOn(source) {
      for (let i = 0; i < this.#sources.length; i++) if (this.#sources[i] === source) return;
      this.#sources[this.#sources.length] = source;
      source.#dependents[source.#dependents.length] = this;
    }
    #tell() {
      const steps = this.#steps;
      this.#steps = list();
      for (let i = 0; i < steps.length; i++) steps[i]();
      fire(this, "abort");
    }

    static {
      makeSignal = () => new AbortSignal(OURS);
      isSignal = (value) => typeof value === "object" && value !== null && #aborted in value;
      isAborted = (signal) => signal.#aborted;
      reasonOf = (signal) => signal.#reason;
      // All signals that hang on this one are aborted before anybody hears of it.
      abort = (signal, reason = new ThisDOMException("the operation was aborted", "AbortError")) => {
        if (signal.#aborted) return;
        const told = list();
        told[0] = signal;
        for (let i = 0; i < signal.#dependents.length; i++) {
          if (!signal.#dependents[i].#aborted) told[told.length] = signal.#dependents[i];
        }
        signal.#dependents = list();
        for (let i = 0; i < told.length; i++) {
          told[i].#aborted = true;
          told[i].#reason = reason;
        }
        for (let i = 0; i < told.length; i++) told[i].#tell();
      };
      // Calls `step` before the listeners when the signal is aborted, which it is not yet. Returns what takes the step back.
      whenAborted = (signal, step) => {
        signal.#steps[signal.#steps.length] = step;
        return () => {
          const before = signal.#steps;
          signal.#steps = list();
          for (let i = 0; i < before.length; i++) if (before[i] !== step) signal.#steps[signal.#steps.length] = before[i];
        };
      };
    }
  }

  class AbortController {
    #signal = makeSignal();
    get signal() {
      return this.#signal;
    }
    abort(reason = undefined) {
      abort(this.#signal, reason);
    }
  }

  env.abort = { __proto__: null, isSignal, isAborted, reasonOf, whenAborted };
  const classes = { AbortController, AbortSignal, Event, EventTarget };
  for (const name of Object.keys(classes)) {
    platform(classes[name]);
    env.refuseToClone?.(classes[name].prototype);
  }
  return classes;
}
