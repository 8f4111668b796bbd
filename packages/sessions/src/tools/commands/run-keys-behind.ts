import { isAbsolute, join } from "node:path";
import type { GovernedTools } from "@gennai/governance/gate/gate";
import { keyChain } from "@gennai/governance/keys/key-chain";
import type { ExecutionContext, Tool, ToolOutcome } from "@gennai/governance/tool";
import type { FailureClass } from "@gennai/protocol/model/tool-outcome";
import { z } from "zod";
import { withNotes } from "../command-output.ts";

const shellCall = z.object({
  command: z.string(),
  cwd: z.string().optional(),
  timeout_ms: z.number().optional(),
});

/**
 * Bash, which goes on with what stands behind a command and needs a login of the user's: each is a call of its own through the
 * gate, looked at, asked about and recorded when its turn has come, as if the model had made it then. What fails, is refused, or is
 * not kept as a whole ends it; and so does a stop. What the command before did is told in any case: it has happened.
 * @param calls the gate for these; given when there is one
 */
export function withKeysBehind(bash: Tool, calls: () => Pick<GovernedTools, "run">): Tool {
  return {
    ...bash,
    async execute(args, analysis, context) {
      const behind = analysis.effects.flatMap((effect) => (effect.type === "exec" ? (effect.behind ?? []) : []));
      if (behind.length === 0) return bash.execute(args, analysis, context);
      const { command: chain, cwd, timeout_ms } = shellCall.parse(args);
      const directory = keyChain(chain)?.directory;
      // Nothing may be thrown from here on: what was kept would be in no record.
      let whole = await bash.execute(args, analysis, context);
      for (const [index, command] of behind.entries()) {
        const why = whyNotOn(whole, context.signal);
        if (why !== undefined) return notRun(whole, command, why);
        const call = { command, cwd: within(cwd, directory), timeout_ms };
        whole = await withKey(whole, call, { id: `${context.callId}-key-${index + 1}`, calls: calls(), context });
      }
      return whole;
    },
  };
}

interface WhyNotOn {
  readonly note: string;
  /** Left out where what stands before it has one. */
  readonly failureClass?: FailureClass;
}

function whyNotOn(before: ToolOutcome, { aborted }: AbortSignal): WhyNotOn | undefined {
  if (before.failure !== undefined || before.exitCode !== 0) {
    return { note: "what stands before it did not succeed" };
  }
  if ((before.dropped ?? []).length > 0) {
    return {
      note: "the user did not keep all that stands before it had changed",
      failureClass: "permission_denied",
    };
  }
  return aborted
    ? { note: "the call was stopped; what stands before it is done", failureClass: "partial_execution" }
    : undefined;
}

function notRun(before: ToolOutcome, command: string, { note, failureClass }: WhyNotOn): ToolOutcome {
  const outcome = withOutput(before, `[\`${command}\` did not run: ${note}]`);
  if (failureClass === undefined) return outcome;
  const { exitCode: _, ...rest } = outcome;
  return { ...rest, failure: { failureClass, message: `\`${command}\` did not run: ${note}.` } };
}

async function withKey(
  before: ToolOutcome,
  call: z.infer<typeof shellCall>,
  {
    id,
    calls,
    context,
  }: { readonly id: string; readonly calls: Pick<GovernedTools, "run">; readonly context: ExecutionContext },
): Promise<ToolOutcome> {
  const { turnId, signal } = context;
  const { command } = call;
  const argumentsJson = JSON.stringify(call);
  const note = `[then, by itself: \`${command}\`]`;
  const { exitCode: _, dropped: __, ...told } = before;
  try {
    const [result] = await calls.run([{ id, name: "Bash", argumentsJson }], { turnId, signal });
    const { output, error, exitCode, dropped = [], failureClass = "command_error" } = result ?? { output: "" };
    const failure = error && { failureClass, message: `\`${command}\`: ${error.message}` };
    return {
      ...withOutput(told, note, output),
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(dropped.length === 0 ? {} : { dropped }),
      ...(failure === undefined ? {} : { failure }),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `\`${command}\`: nobody knows whether it ran (${why}). Look before you run it again.`;
    return { ...withOutput(told, note, message), failure: { failureClass: "partial_execution", message } };
  }
}

function withOutput(outcome: ToolOutcome, note: string, more = ""): ToolOutcome {
  return { ...outcome, output: `${withNotes(outcome.output, [note])}${more === "" ? "" : `\n${more}`}` };
}

function within(cwd: string | undefined, directory: string | undefined): string | undefined {
  if (directory === undefined || isAbsolute(directory)) return directory ?? cwd;
  return join(cwd ?? ".", directory);
}
