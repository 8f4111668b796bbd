import { isReadOnly } from "../effect.ts";
import type { Policy, PolicyInput } from "../policy.ts";
import { allow, deny, strictest, type Verdict } from "../verdict.ts";

export interface PolicyRun {
  readonly verdict: Verdict;
  /** Observers that failed on a pure read, in words for the user. */
  readonly warnings: readonly string[];
}

/**
 * Asks every policy and takes the strictest verdict. A policy that throws or takes longer than `timeoutMs` denies;
 * only an observer's failure on a call that changes nothing becomes a warning instead.
 */
export async function runPolicies(
  policies: readonly Policy[],
  input: PolicyInput,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<PolicyRun> {
  const pureRead = input.access === "read" && input.analysis.effects.every(isReadOnly);
  const warnings: string[] = [];
  const verdicts = await Promise.all(
    policies.map(async (policy): Promise<Verdict> => {
      try {
        return checked(await withinTime(policy, input, options));
      } catch (error) {
        options.signal.throwIfAborted();
        const problem = error instanceof Error ? error.message : String(error);
        if (pureRead && policy.kind === "observer") {
          warnings.push(`The hook ${policy.name} failed and was passed over for a read: ${problem}`);
          return allow;
        }
        return deny({
          code: "hook_failed",
          rule: `hook/${policy.name}`,
          reason: `The hook ${policy.name} failed, so the call does not run: ${problem}`,
          hint: "Mend or remove the hook, then try again.",
        });
      }
    }),
  );
  return { verdict: strictest(verdicts), warnings };
}

function withinTime(
  policy: Policy,
  input: PolicyInput,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Verdict | Promise<Verdict> {
  const verdict = policy.decide(input, { signal: options.signal });
  if (!(verdict instanceof Promise)) return verdict;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`it did not answer within ${options.timeoutMs} ms`));
    }, options.timeoutMs);
    verdict.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

/** A hook written by somebody else may return anything at all. */
function checked(verdict: Verdict): Verdict {
  const type: unknown = (verdict as { type?: unknown } | undefined)?.type;
  if (type === "allow" || type === "ask" || type === "deny") return verdict;
  throw new Error("it did not return a verdict");
}
