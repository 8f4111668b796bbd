import { isAbsolute, join } from "node:path";
import type { CallResult, GovernedTools } from "@gennai/governance/gate/gate";
import { keyChain } from "@gennai/governance/network/key-chain";
import type { Analysis, ExecutionContext, ToolOutcome } from "@gennai/governance/tool";
import { errorMessage } from "@gennai/protocol/error-message";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import { z } from "zod";
import { withNotes } from "../command-output.ts";

const shellCall = z.object({
  command: z.string(),
  cwd: z.string().optional(),
  timeout_ms: z.number().optional(),
});

type ShellCall = z.infer<typeof shellCall>;

/** The commands of a chain that need a user's login, each as it is typed. */
export function keysBehind({ effects }: Analysis): readonly string[] {
  return effects.flatMap((effect) => (effect.type === "exec" ? (effect.behind ?? []) : []));
}

/**
 * Splits a chain with such commands: the part before each, and each of them, is a separate call through the gate, analysed, asked
 * about and recorded in its turn, as if the model had made it then. So the effect of one is recorded before the next is asked
 * about. The chain ends with a failed, refused or not completely kept call, or a stop. The results of earlier calls are always
 * reported: they have happened.
 */
export async function runKeysBehind(args: unknown, keys: readonly string[], place: Place): Promise<ToolOutcome> {
  const { command: chain, cwd, timeout_ms } = shellCall.parse(args);
  const { first, directory } = keyChain(chain) ?? {};
  const { callId, signal } = place.context;
  let whole: ToolOutcome | undefined;
  if (first !== undefined) whole = await oneCall(`${callId}-first`, { command: first, cwd, timeout_ms }, place);
  for (const [index, command] of keys.entries()) {
    const why = whyNotOn(whole, signal);
    if (why !== undefined) return notRun(whole, command, why);
    const call = { command, cwd: within(cwd, directory), timeout_ms };
    whole = together(whole, command, await oneCall(`${callId}-key-${index + 1}`, call, place));
  }
  return whole ?? { output: "" };
}

interface Place {
  readonly gate: Pick<GovernedTools, "run">;
  readonly context: ExecutionContext;
}

interface WhyNotOn {
  readonly note: string;
  /** Absent if an earlier call has one. */
  readonly failureClass?: FailureClass;
}

function whyNotOn(before: ToolOutcome | undefined, { aborted }: AbortSignal): WhyNotOn | undefined {
  if (before !== undefined && (before.failure !== undefined || before.exitCode !== 0)) {
    return { note: "what stands before it did not succeed" };
  }
  if ((before?.dropped ?? []).length > 0) {
    return {
      note: "not all that stands before it had changed was kept",
      failureClass: "permission_denied",
    };
  }
  return aborted
    ? { note: "the call was stopped; what stands before it is done", failureClass: "partial_execution" }
    : undefined;
}

function notRun(before: ToolOutcome | undefined, command: string, { note, failureClass }: WhyNotOn): ToolOutcome {
  const outcome = withOutput(before ?? { output: "" }, `[\`${command}\` did not run: ${note}]`);
  if (failureClass === undefined) return outcome;
  const { exitCode: _, ...rest } = outcome;
  return { ...rest, failure: { failureClass, message: `\`${command}\` did not run: ${note}.` } };
}

/** Its changes are only in its own record. Never rejects: earlier results must be reported. */
async function oneCall(
  id: string,
  call: ShellCall,
  { gate, context: { callId, turnId, signal } }: Place,
): Promise<ToolOutcome> {
  const { command } = call;
  const made = { id, name: "Bash", argumentsJson: JSON.stringify(call) };
  try {
    const [result] = await gate.run([made], { turnId, signal, shownAs: callId });
    return result === undefined ? { output: "" } : outcomeOf(result, command);
  } catch (error) {
    const why = errorMessage(error);
    const message = `\`${command}\`: it is not known whether it ran (${why}). Look before you run it again.`;
    return { output: message, failure: { failureClass: "partial_execution", message } };
  }
}

function outcomeOf(
  { output, error, exitCode, dropped, failureClass = "command_error" }: CallResult,
  command: string,
): ToolOutcome {
  return {
    output,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(dropped.length === 0 ? {} : { dropped }),
    ...(error === undefined ? {} : { failure: { failureClass, message: `\`${command}\`: ${error.message}` } }),
  };
}

function together(before: ToolOutcome | undefined, command: string, after: ToolOutcome): ToolOutcome {
  const note = `[${before === undefined ? "by itself" : "then, by itself"}: \`${command}\`]`;
  const told = withOutput(before ?? { output: "" }, note, after.output);
  return { ...after, output: told.output };
}

function withOutput(outcome: ToolOutcome, note: string, more = ""): ToolOutcome {
  return { ...outcome, output: `${withNotes(outcome.output, [note])}${more === "" ? "" : `\n${more}`}` };
}

function within(cwd: string | undefined, directory: string | undefined): string | undefined {
  if (directory === undefined || isAbsolute(directory)) return directory ?? cwd;
  return join(cwd ?? ".", directory);
}
