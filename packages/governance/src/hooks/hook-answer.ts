import { canonicalJson } from "@gennai/protocol/canonical-json";
import { errorMessage } from "@gennai/protocol/error-message";
import * as z from "zod";
import { allow, ask, deny, type Verdict } from "../verdict.ts";
import type { HookCommand } from "./hook-config.ts";

/** How a user's program ended. */
export interface HookRun {
  /** undefined when it was killed or never started; `failure` says which. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** E.g. `timed out after 10 s`. */
  readonly failure?: string;
}

/** A program that gave no clear answer. */
export class HookFailure extends Error {
  override readonly name = "HookFailure";
}

const text = z.string().nullish();
const opinion = z.enum(["approve", "block", "allow", "deny", "ask", "defer"]).nullish();

/**
 * Answers by Claude Code's contract (https://code.claude.com/docs/en/hooks), where null is the same as absent. Of other agents'
 * contracts only what refuses: a flat decision (Copilot), `permission` (Cursor), `cancel` (Cline). Other fields are kept.
 */
const answerSchema = z.looseObject({
  continue: z.boolean().nullish(),
  cancel: z.boolean().nullish(),
  stopReason: text,
  reason: text,
  systemMessage: text,
  suppressOutput: z.boolean().nullish(),
  /** The older form of a decision. */
  decision: opinion,
  permission: opinion,
  permissionDecision: opinion,
  permissionDecisionReason: text,
  hookSpecificOutput: z
    .looseObject({
      hookEventName: text,
      permissionDecision: opinion,
      permissionDecisionReason: text,
      additionalContext: text,
      updatedInput: z.record(z.string(), z.unknown()).nullish(),
    })
    .nullish(),
});

/** Longer arguments that a hook wants are not repeated to the model. */
const maxHint = 4_000;

/**
 * The verdict of a `PreToolUse` program about these arguments. It can tighten but never loosen: its `allow` counts as no opinion.
 * Arguments that it wants changed are refused, for the model to make that call itself, which is judged like any other. Throws
 * `HookFailure` if it failed, printed no decision, or said anything else that is not understood.
 */
export function hookVerdict(hook: HookCommand, run: HookRun, toolInput: unknown): Verdict {
  const answer = answerOf(hook, run, toolInput);
  if (answer === undefined) throw new HookFailure("its answer has no decision; for no objection, print nothing");
  return answer;
}

/** Undefined: it printed an answer without a decision. */
function answerOf(hook: HookCommand, run: HookRun, toolInput: unknown): Verdict | undefined {
  const rule = `hook/${nameOf(hook)}`;
  const refusal = (reason: string, hint?: string): Verdict => {
    const finding = { code: "hook_denied", rule, reason: `A hook of the user refused this: ${reason}` };
    return deny(hint === undefined ? finding : { ...finding, hint });
  };
  if (run.failure !== undefined) throw new HookFailure(run.failure);
  if (run.exitCode === 2) return refusal(firstWords(run.stderr) || "it gave no reason.");
  if (run.exitCode !== 0) {
    throw new HookFailure(`it ended with exit code ${run.exitCode ?? "unknown"}: ${firstWords(run.stderr)}`);
  }
  if (run.stdout.trim() === "") return allow;
  const answer = parsedAnswer(run.stdout.trim());
  const { hookSpecificOutput: specific, decision, permission, continue: goOn } = answer;
  const said = [specific?.permissionDecision, answer.permissionDecision, decision, permission];
  const words = firstWords(
    specific?.permissionDecisionReason ?? answer.permissionDecisionReason ?? answer.reason ?? answer.stopReason ?? "",
  );
  if (goOn === false || answer.cancel === true) return refusal(words || "it asked to stop.");
  if (said.includes("deny") || said.includes("block")) return refusal(words || "it gave no reason.");
  assertUnderstood(answer, hook);
  const wanted = specific?.updatedInput ?? undefined;
  if (wanted !== undefined && canonicalJson(wanted) !== canonicalJson(toolInput)) {
    const json = JSON.stringify(wanted);
    const hint = `${json.length <= maxHint ? `Call the tool with ${json}` : "Ask the user which arguments"}.`;
    return refusal(words || "it wants other arguments.", hint);
  }
  // A deferred call waits for somebody outside.
  if (said.includes("ask") || said.includes("defer")) {
    return ask({ code: "hook_asks", rule, reason: words || "A hook of the user asks for a confirmation of this." });
  }
  const decided = wanted !== undefined || typeof goOn === "boolean" || said.some((one) => typeof one === "string");
  return decided ? allow : undefined;
}

function parsedAnswer(stdout: string): z.infer<typeof answerSchema> {
  let value: unknown;
  try {
    value = JSON.parse(stdout);
  } catch {
    throw new HookFailure(`it printed what is not JSON: ${firstWords(stdout)}`);
  }
  const parsed = answerSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new HookFailure(`its answer is not valid: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
}

/** What is not known may be a refusal. */
function assertUnderstood(answer: z.infer<typeof answerSchema>, { event }: HookCommand): void {
  const specific = answer.hookSpecificOutput ?? {};
  const known = [answerSchema.shape, answerSchema.shape.hookSpecificOutput.unwrap().unwrap().shape] as const;
  const foreign = [answer, specific].flatMap((said, at) =>
    Object.keys(said).filter((key) => !Object.hasOwn(known[at] ?? {}, key)),
  );
  if (foreign.length > 0) throw new HookFailure(`its answer has an unknown field: ${firstWords(foreign.join(", "))}`);
  const { hookEventName: about } = specific;
  if (typeof about === "string" && about !== event) throw new HookFailure(`it answered as ${firstWords(about)}`);
}

/** A `PostToolUse` program's message to the user; undefined if there is none. It cannot change anything any more. */
export function hookRemark(hook: HookCommand, run: HookRun, toolInput: unknown): string | undefined {
  try {
    const verdict = answerOf(hook, run, toolInput) ?? allow;
    return verdict.type === "allow" ? undefined : `${nameOf(hook)}: ${verdict.finding.reason}`;
  } catch (error) {
    return `The hook ${nameOf(hook)} failed: ${errorMessage(error)}`;
  }
}

/** For rules and messages: the program's own name, without its words, which may hold secrets. */
export function nameOf(hook: HookCommand): string {
  const program = /[^\s"']+/.exec(hook.command.replace(/^\s*(?:\w+=\S*\s+)*/, ""))?.[0] ?? "";
  return program.slice(program.lastIndexOf("/") + 1).slice(0, 60) || "command";
}

function firstWords(text: string): string {
  const line = text.trim();
  return line.length <= 1_000 ? line : `${line.slice(0, 1_000).toWellFormed()}…`;
}
