import { errorMessage } from "@gennai/protocol/error-message";
import * as z from "zod";
import { allow, ask, deny, type Judgement } from "../verdict.ts";
import { type HookCommand, hookEvents } from "./hook-config.ts";

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

/** What a program said about an event. */
export interface HookAnswer {
  /** Why it refuses what it was told of. */
  readonly refusal?: string;
  /** The turn is to stop, too. */
  readonly stops?: true;
  /** Why a person is to be asked. */
  readonly asks?: string;
  /** Arguments that a call is to have. */
  readonly wanted?: Readonly<Record<string, unknown>>;
  /** For the model. */
  readonly context?: string;
  /** For the user. */
  readonly message?: string;
  /** False: an answer without a decision. */
  readonly decided: boolean;
}

/**
 * The verdict of a `PreToolUse` program. It can tighten but never loosen: its `allow` counts as no opinion. Throws `HookFailure`
 * if it failed, printed no decision, or said anything else that is not understood.
 */
export function hookVerdict(hook: HookCommand, run: HookRun): Judgement {
  const { refusal, asks, wanted, decided } = hookAnswer(hook, run);
  const rule = `hook/${nameOf(hook)}`;
  if (refusal !== undefined) {
    return deny({ code: "hook_denied", rule, reason: `A hook of the user refused this: ${refusal}` });
  }
  if (!decided) throw new HookFailure("its answer has no decision; for no objection, print nothing");
  const verdict = asks === undefined ? allow : ask({ code: "hook_asks", rule, reason: asks });
  return wanted === undefined ? verdict : { ...verdict, wanted };
}

/** Throws `HookFailure`. */
export function hookAnswer(hook: HookCommand, run: HookRun): HookAnswer {
  if (run.failure !== undefined) throw new HookFailure(run.failure);
  if (run.exitCode === 2) return { refusal: firstWords(run.stderr) || "it gave no reason.", decided: true };
  if (run.exitCode !== 0) {
    throw new HookFailure(`it ended with exit code ${run.exitCode ?? "unknown"}: ${firstWords(run.stderr)}`);
  }
  const printed = run.stdout.trim();
  if (printed === "") return { decided: true };
  // Before a call, words would pass for a yes.
  if (hook.event !== "PreToolUse" && !printed.startsWith("{")) {
    return { decided: true, ...(tellsModel.has(hook.event) ? { context: firstWords(printed) } : {}) };
  }
  const answer = parsedAnswer(printed);
  const { hookSpecificOutput: specific, decision, permission, continue: goOn } = answer;
  const said = [specific?.permissionDecision, answer.permissionDecision, decision, permission];
  const words = firstWords(
    specific?.permissionDecisionReason ?? answer.permissionDecisionReason ?? answer.reason ?? answer.stopReason ?? "",
  );
  const told = {
    ...(specific?.additionalContext ? { context: firstWords(specific.additionalContext) } : {}),
    ...(answer.systemMessage ? { message: firstWords(answer.systemMessage) } : {}),
    decided: true,
  };
  if (goOn === false || answer.cancel === true) return { ...told, stops: true, refusal: words || "it asked to stop." };
  if (said.includes("deny") || said.includes("block")) return { ...told, refusal: words || "it gave no reason." };
  if ("decides" in hookEvents[hook.event]) assertUnderstood(answer, hook);
  const wanted = specific?.updatedInput ?? undefined;
  // A deferred call waits for somebody outside.
  const asks = said.includes("ask") || said.includes("defer");
  return {
    ...told,
    ...(wanted === undefined ? {} : { wanted }),
    ...(asks ? { asks: words || "A hook of the user asks for a confirmation of this." } : {}),
    decided: wanted !== undefined || typeof goOn === "boolean" || said.some((one) => typeof one === "string"),
  };
}

/** Events for which what a program prints is for the model. */
const tellsModel: ReadonlySet<string> = new Set(["SessionStart", "UserPromptSubmit"]);

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

/** Why a program failed, for its user. */
export function hookFailed(hook: HookCommand, error: unknown): string {
  return `The hook ${nameOf(hook)} failed: ${errorMessage(error)}`;
}

/** For rules and messages: the program's own name, without its words, which may hold secrets. */
export function nameOf(hook: HookCommand): string {
  const program = /[^\s"']+/.exec(hook.command.replace(/^\s*(?:\w+=\S*\s+)*/, ""))?.[0] ?? "";
  return program.slice(program.lastIndexOf("/") + 1).slice(0, 60) || "command";
}

/** Contexts longer than this are cut, as any words of a hook. */
const maxWords = 10_000;

function firstWords(words: string): string {
  const line = words.trim();
  return line.length <= maxWords ? line : `${line.slice(0, maxWords).toWellFormed()}…`;
}
