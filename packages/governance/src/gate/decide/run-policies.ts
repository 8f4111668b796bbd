import { errorMessage } from "@gennai/protocol/error-message";
import { isReadOnly } from "../../effect.ts";
import type { Policy, PolicyInput } from "../../policy.ts";
import { allow, deny, type Judgement, strictest, type Verdict } from "../../verdict.ts";

/** A policy's verdict that is not a plain allow. */
export interface FiredPolicy {
  readonly policy: string;
  readonly verdict: Verdict;
}

export interface PolicyRun {
  readonly verdict: Verdict;
  /** Every policy that asks or denies, in the order of the policies. */
  readonly fired: readonly FiredPolicy[];
  /** Observers that failed on a pure read, in words for the user. */
  readonly warnings: readonly string[];
  /** Policies that want other arguments, and these. */
  readonly changes: readonly ChangedArguments[];
}

export interface ChangedArguments {
  readonly policy: Policy;
  readonly args: Readonly<Record<string, unknown>>;
}

interface RunOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Asks every policy and takes the strictest verdict; external ones only if no other denied. A policy that throws or times out
 * denies; only an observer's failure on a call that changes nothing becomes a warning.
 */
export async function runPolicies(
  policies: readonly Policy[],
  input: PolicyInput,
  options: RunOptions,
): Promise<PolicyRun> {
  const own = await askAll(
    policies.filter((policy) => policy.stage === undefined),
    input,
    options,
  );
  const external = policies.filter((policy) => policy.stage === "external");
  if (external.length === 0 || own.verdict.type === "deny") return own;
  const theirs = await askAll(external, input, options);
  return {
    verdict: strictest([own.verdict, theirs.verdict]),
    fired: [...own.fired, ...theirs.fired],
    warnings: [...own.warnings, ...theirs.warnings],
    changes: theirs.changes,
  };
}

async function askAll(policies: readonly Policy[], input: PolicyInput, options: RunOptions): Promise<PolicyRun> {
  const pureRead = input.access === "read" && input.analysis.effects.every(isReadOnly);
  const warnings: string[] = [];
  const verdicts = await Promise.all(
    policies.map(async (policy): Promise<Judgement> => {
      try {
        return checked(await withinTime(policy, input, options));
      } catch (error) {
        options.signal.throwIfAborted();
        const problem = errorMessage(error);
        if (pureRead && policy.kind === "observer") {
          warnings.push(`The hook ${policy.name} failed, which is ignored for a read: ${problem}`);
          return allow;
        }
        return deny({
          code: "hook_failed",
          rule: `hook/${policy.name}`,
          reason: `The hook ${policy.name} failed, so the call does not run: ${problem}`,
          hint: "Correct or remove the hook, then try again.",
        });
      }
    }),
  );
  const fired = policies.flatMap((policy, index): readonly FiredPolicy[] => {
    const verdict = verdicts[index];
    return verdict === undefined || verdict.type === "allow" ? [] : [{ policy: policy.name, verdict }];
  });
  const changes = policies.flatMap((policy, index) => {
    const args = verdicts[index]?.wanted;
    return args === undefined ? [] : [{ policy, args }];
  });
  return { verdict: strictest(verdicts), fired, warnings, changes };
}

function withinTime(policy: Policy, input: PolicyInput, options: RunOptions): Judgement | Promise<Judgement> {
  const verdict = policy.decide(input, { signal: options.signal });
  if (!(verdict instanceof Promise)) return verdict;
  const timeoutMs = policy.timeoutMs ?? options.timeoutMs;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`it did not answer within ${timeoutMs} ms`));
    }, timeoutMs);
    verdict.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

/** A hook from elsewhere may return anything. */
function checked(verdict: Judgement): Judgement {
  const type: unknown = (verdict as { type?: unknown } | undefined)?.type;
  if (type === "allow" || type === "ask" || type === "deny") return verdict;
  throw new Error("it did not return a verdict");
}
