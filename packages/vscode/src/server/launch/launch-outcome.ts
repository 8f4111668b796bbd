/** The result of starting a server. */
export type LaunchOutcome =
  | { readonly type: "running" }
  /** The server ended; `wrote` is its last output, if known. */
  | { readonly type: "ended"; readonly exitCode: number | undefined; readonly wrote?: string }
  | { readonly type: "silent" }
  /** No Node was found that can run it. */
  | { readonly type: "no-node" };

/** Milliseconds within which a started server must answer. */
export const launchTimeoutMs = 30_000;

/** Milliseconds between two checks whether it answers. */
export const pauseBetweenLooks = 300;
