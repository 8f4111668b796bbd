/** How the start of a server went. */
export type LaunchOutcome =
  | { readonly type: "running" }
  /** The server ended; `wrote` is its last output, if known. */
  | { readonly type: "ended"; readonly exitCode: number | undefined; readonly wrote?: string }
  | { readonly type: "silent" }
  /** No Node that runs it was found. */
  | { readonly type: "no-node" };

/** Milliseconds in which a server has to answer. */
export const launchTimeoutMs = 30_000;

/** Milliseconds between two looks at whether it does. */
export const pauseBetweenLooks = 300;
