/** What the script was started with. */
declare const args: { [name: string]: any };

/** Says something to the reader of the result, before the value that the script returns. */
declare function text(...values: unknown[]): void;

/** Captured, and shown apart from `text`. */
declare const console: {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
};

/** What a failed call rejects with. */
interface ToolError extends Error {
  name: "ToolError";
  code:
    | "invalid_arguments" | "unknown_tool" | "source_down" | "denied" | "interrupted" | "cancelled" | "timeout"
    | "rate_limited" | "result_too_large" | "output_mismatch" | "tool_error" | "protocol" | "internal";
  /** The path of the tool. */
  tool: string;
  /** The number of the call in this run. */
  call: number;
  /** Whether the same call may do better later. */
  retryable: boolean;
  retryAfterMs?: number;
  /** What the tool said for programs. */
  data?: any;
}
