/** The result of one check of the machine or the installation. */
export interface Finding {
  /** What was checked, e.g. `database`. */
  readonly check: string;
  /** `ok`; `warn`: it works, but less well or not for long; `fail`: something does not work, or is not safe. */
  readonly state: "ok" | "warn" | "fail";
  /** For people. Contains no secret: names of variables and files, never their content. */
  readonly text: string;
  /** What to do about it; one line each, which can be typed or followed. */
  readonly next?: readonly string[];
}

/** A check of one thing. If `run` rejects, that is a finding with the state `fail`. */
export interface Check {
  readonly name: string;
  readonly run: (signal: AbortSignal) => Promise<Finding | readonly Finding[]>;
}
