import type { Check, Finding } from "@gennai/machine/finding";
import { errorMessage } from "@gennai/protocol/error-message";

/** Milliseconds one check may take. */
const timeoutMs = 20_000;

/** Runs all checks, one after the other, and passes each finding on at once. Never rejects. */
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
    resolve({ check, state: "fail", text: `It gave no answer in ${timeoutMs / 1000} s.` });
  }, timeoutMs);
  try {
    return [await Promise.race([run(stop.signal), promise])].flat();
  } catch (error) {
    return [{ check, state: "fail", text: errorMessage(error) }];
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
