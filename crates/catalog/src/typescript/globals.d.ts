/** What the script was started with. */
declare const args: { [name: string]: any };

/** Says something to the reader of the result, before the value that the script returns. */
declare function text(...values: unknown[]): void;

/** Gives a picture or a sound to the reader: an MCP image or audio block, or a `data:image/…;base64,` URL. */
declare function image(picture: string | { type: "image" | "audio"; mimeType: string; data: string }): void;

/** Tells whoever waits how far the script is, from 0 to 1. */
declare function progress(fraction: number, message?: string): void;

/** Finds tools by words, best first. `cursor` is the number of hits to leave out. A note of the run says which words matched nothing. */
declare function searchTools(
  query: string,
  options?: { limit?: number; namespace?: string; cursor?: string },
): Promise<{ path: string; call: string; signature: string; description: string }[]>;

/**
 * Everything about tools, by path (`"github.list_issues"`) or by glob (`"github.*"`). Beside others, a name that leads nowhere
 * is an entry of `name` and `error`; where none leads anywhere, it rejects.
 */
declare function describeTools(names: string | string[]): Promise<
  {
    path: string;
    call: string;
    signature: string;
    input: string;
    output: string;
    description: string;
    effect: "read" | "write" | "destructive";
    replay: "safe" | "keyed" | "unsafe";
    approval: string;
    /** A call that passes the check of arguments. */
    example: string | null;
    notes: string[];
    name?: string;
    error?: string;
  }[]
>;

/** Runs `work` for each item, so many at a time, and gives every outcome in the order of the items. */
declare function parallel<T, R>(
  items: Iterable<T>,
  work: (item: T, index: number) => R | Promise<R>,
  options?: { concurrency?: number },
): Promise<PromiseSettledResult<R>[]>;

/** Waits. A long wait holds no process, and a crash does not lengthen it. */
declare function sleep(milliseconds: number): Promise<void>;

/** Asks a person. The run waits for the answer, outside of any process, and rejects with the code `denied` if nobody gives one. `schema` is JSON Schema of the answer. */
declare function ask(question: string, options?: { schema?: object }): Promise<any>;

/** Keeps a value for later scripts of the session, once this one has ended well; `undefined` deletes it. Without a session it ends with the script. */
declare function store(key: string, value: unknown): void;

/** Gives back what `store` kept, in this script or in the scripts of the session before it, or `undefined`. */
declare function load(key: string): any;

/**
 * Stores a value only where `load(key)` equals `expected`, and says whether it did. Where a script beside this one has changed the value in
 * the meantime, this one fails at its end and stores nothing.
 */
declare function compareAndStore(key: string, expected: unknown, value: unknown): boolean;

/** Ends the script now, successfully. Nothing of it runs any more. */
declare function exit(): never;

/** Captured, and shown apart from `text`. */
declare const console: {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
};

/** What a failed call rejects with. */
declare class ToolError extends Error {
  name: "ToolError";
  code:
    | "invalid_arguments" | "unknown_tool" | "source_down" | "denied" | "interrupted" | "cancelled" | "timeout"
    | "rate_limited" | "result_too_large" | "output_mismatch" | "tool_error" | "protocol" | "internal";
  /** The path of the tool. */
  tool: string;
  /** The number of the call in this run; none when the call was refused before it was made. */
  call?: number;
  /** Whether the same call may do better later. */
  retryable: boolean;
  retryAfterMs?: number;
  /** What the tool said for programs. */
  data?: any;
}
