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

/** Milliseconds one check may take. */
const patience = 20_000;

/** Runs all checks, one after the other, and tells each finding as it comes. Never rejects. */
export async function runChecks(
  checks: readonly Check[],
  tell: (finding: Finding) => void,
): Promise<readonly Finding[]> {
  const all: Finding[] = [];
  for (const { name, run } of checks) {
    for (const finding of await findingsOf(name, run)) {
      all.push(finding);
      tell(finding);
    }
  }
  return all;
}

async function findingsOf(check: string, run: Check["run"]): Promise<readonly Finding[]> {
  const stop = new AbortController();
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const timer = setTimeout(() => {
    stop.abort();
    resolve({ check, state: "fail", text: `It gave no answer in ${patience / 1000} s.` });
  }, patience);
  try {
    return [await Promise.race([run(stop.signal), promise])].flat();
  } catch (error) {
    return [{ check, state: "fail", text: error instanceof Error ? error.message : String(error) }];
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
