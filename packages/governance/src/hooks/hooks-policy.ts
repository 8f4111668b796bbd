import { canonicalJson } from "@gennai/protocol/canonical-json";
import { coveringNames } from "../covering-names.ts";
import type { Policy, PolicyInput } from "../policy.ts";
import { type Judgement, strictest } from "../verdict.ts";
import { HookFailure, type HookRun, hookVerdict, nameOf } from "./hook-answer.ts";
import { type HookCommand, type HookEvent, matchesHook } from "./hook-config.ts";
import { hookInputs } from "./hook-inputs.ts";

/** What a hook reads from its standard input, as JSON. */
export interface HookInput {
  readonly session_id: string;
  readonly cwd: string;
  readonly hook_event_name: HookEvent;
  /** The event's own. */
  readonly [field: string]: unknown;
}

export interface HookRunner {
  /** Never rejects but by the signal's abort. */
  run(hook: HookCommand, input: HookInput, options: { readonly signal: AbortSignal }): Promise<HookRun>;
}

/** Killing what does not end by itself takes this much longer than the hook's own time. */
const endingMs = 8_000;

/**
 * Users' `PreToolUse` programs as policies of the external stage, one each: they run in parallel, only if no other policy
 * denied, and the strictest verdict counts. A failing program denies anything that could change something, and warns for a pure
 * read.
 */
export function createHookPolicies(
  hooks: readonly HookCommand[],
  options: { readonly runner: HookRunner; readonly cwd: string },
): readonly Policy[] {
  return hooks
    .filter(({ event }) => event === "PreToolUse")
    .map((hook) => ({
      name: nameOf(hook),
      kind: "observer",
      stage: "external",
      timeoutMs: hook.timeoutMs + endingMs,
      decide: (input, { signal }) => verdictOf(hook, input, { ...options, signal }),
    }));
}

/** Replaces configured hooks that cannot be read: it fails like each of them would. */
export function createBrokenHooksPolicy(problem: string): Policy {
  return {
    name: "hooks.json",
    kind: "observer",
    stage: "external",
    decide() {
      throw new HookFailure(problem);
    },
  };
}

async function verdictOf(
  hook: HookCommand,
  input: PolicyInput,
  { runner, cwd, signal }: { readonly runner: HookRunner; readonly cwd: string; readonly signal: AbortSignal },
): Promise<Judgement> {
  if (!matchesHook(hook.matcher, coveringNames(input.toolName, input.analysis.effects))) return { type: "allow" };
  const verdicts: Judgement[] = [];
  const { toolName, args, analysis } = input;
  for (const toolInput of hookInputs({ toolName, args, effects: analysis.effects })) {
    const told: HookInput = {
      session_id: input.sessionId,
      cwd,
      hook_event_name: "PreToolUse",
      tool_name: input.toolName,
      tool_input: toolInput,
      tool_use_id: input.callId,
    };
    const { wanted, ...verdict } = hookVerdict(hook, await runner.run(hook, told, { signal }));
    if (wanted === undefined || canonicalJson(wanted) === canonicalJson(toolInput)) verdicts.push(verdict);
    // Of a call that was told file by file, nobody wrote these arguments.
    else if (toolInput !== args) throw new HookFailure("it cannot change the arguments of a call of several files");
    else return { ...verdict, wanted };
  }
  return strictest(verdicts);
}
