/** What one look at the machine or the installation found. */
export interface Finding {
  /** What was looked at, e.g. `database`. */
  readonly check: string;
  /** `ok`; `warn`: it works, less well or not for long; `fail`: something does not work, or is not safe. */
  readonly state: "ok" | "warn" | "fail";
  /** For people. Holds no secret: names of variables and files, never what is in them. */
  readonly text: string;
  /** What to do about it; one line each, ready to be typed or followed. */
  readonly next?: readonly string[];
}

/** A look at one thing. What it throws is a `fail` of its own. */
export interface Check {
  readonly name: string;
  readonly run: (signal: AbortSignal) => Promise<Finding | readonly Finding[]>;
}
