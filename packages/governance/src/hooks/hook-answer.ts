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

const answerSchema = z.object({
  continue: z.boolean().optional(),
  stopReason: z.string().optional(),
  reason: z.string().optional(),
  /** The older form of a decision. */
  decision: z.enum(["approve", "block", "allow", "deny", "ask"]).optional(),
  hookSpecificOutput: z
    .object({
      permissionDecision: z.enum(["allow", "ask", "deny", "defer"]).optional(),
      permissionDecisionReason: z.string().optional(),
    })
    .optional(),
});

/**
 * The verdict of a `PreToolUse` program. It can tighten but never loosen: its `allow` counts as no opinion. Throws
 * `HookFailure` if it failed or its answer is not understood.
 */
export function hookVerdict(hook: HookCommand, run: HookRun): Verdict {
  const rule = `hook/${nameOf(hook)}`;
  const refusal = (reason: string): Verdict =>
    deny({ code: "hook_denied", rule, reason: `A hook of the user refused this: ${reason}` });
  if (run.failure !== undefined) throw new HookFailure(run.failure);
  if (run.exitCode === 2) return refusal(firstWords(run.stderr) || "it gave no reason.");
  if (run.exitCode !== 0) {
    throw new HookFailure(`it ended with exit code ${run.exitCode ?? "unknown"}: ${firstWords(run.stderr)}`);
  }
  const text = run.stdout.trim();
  if (text === "") return allow;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HookFailure(`it printed what is not JSON: ${firstWords(text)}`);
  }
  const parsed = answerSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new HookFailure(`its answer is not valid: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
  }
  const { hookSpecificOutput: specific, decision, reason, continue: goOn, stopReason } = parsed.data;
  if (goOn === false) return refusal(firstWords(stopReason ?? "") || "it asked to stop.");
  const words = firstWords(specific?.permissionDecisionReason ?? reason ?? "");
  switch (specific?.permissionDecision ?? decision) {
    case "deny":
    case "block":
      return refusal(words || "it gave no reason.");
    case "ask":
      return ask({ code: "hook_asks", rule, reason: words || "A hook of the user asks for a confirmation of this." });
    default:
      return allow;
  }
}

/** A `PostToolUse` program's message to the user; undefined if there is none. It cannot change anything any more. */
export function hookRemark(hook: HookCommand, run: HookRun): string | undefined {
  try {
    const verdict = hookVerdict(hook, run);
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
