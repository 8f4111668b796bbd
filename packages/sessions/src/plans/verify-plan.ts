import type { TurnEnd } from "@gennai/agent/loop/turn-loop";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import type { GovernedTools } from "@gennai/governance/gate/gate";
import type { Redactor } from "@gennai/governance/redaction";
import type { StepContract } from "@gennai/governance/step-contract";
import type { VerificationResult } from "@gennai/protocol/model/governance/verification-result";
import { finalText } from "../session/own-turn.ts";
import type { Session } from "../session/session.ts";
import type { PlanAnswers } from "./plan-answers.ts";
import { planEntry } from "./plan-entry.ts";

export interface PlanTurnPorts {
  readonly session: Session;
  readonly planId: string;
  readonly turnId: string;
  readonly tools: GovernedTools;
  readonly answers: PlanAnswers;
  readonly signal: AbortSignal;
}

export interface VerificationPorts extends PlanTurnPorts {
  readonly steps: readonly StepContract[];
}

/** Runs every verification command through the gate. The plan is done only if all pass, each with its output. */
export async function verifyPlan(ports: VerificationPorts): Promise<TurnEnd> {
  const { session, planId, turnId, steps, signal } = ports;
  const results: VerificationResult[] = [];
  for (const [index, step] of steps.entries()) {
    for (const [position, command] of step.verificationPlan.entries()) {
      if (!signal.aborted)
        results.push(
          await verification(ports, step.id, { command, callId: `verify-${planId}-step${index + 1}-${position + 1}` }),
        );
    }
  }
  const complete = !signal.aborted && results.length > 0;
  const failed = results.filter(({ passed }) => !passed);
  const state = complete && failed.length === 0 ? "done" : "failed";
  const remediation =
    state === "done"
      ? ""
      : signal.aborted
        ? "The verification was stopped: nothing is proven."
        : `${failed.length} of ${results.length} verification commands did not pass. Undo the change set of the run, or submit a plan that corrects it.`;
  const outcome = results.map(({ stepId, passed, exitCode }) => ({ stepId, passed, exitCode: exitCode ?? null }));
  await session.writer.commit(
    [
      { type: "plan-changed", planId, change: { type: "verification-ended", state, results, remediation } },
      finalText(
        `Plan ${state}: ${results.length - failed.length} of ${results.length} verification commands passed. ${remediation}`.trim(),
      ),
    ],
    {
      turnId,
      ledger: [planEntry(session, turnId, "outcome", { plan: { id: planId, state, verification: outcome } })],
      durable: true,
    },
  );
  return signal.aborted ? { type: "cancelled" } : { type: "completed" };
}

async function verification(
  ports: VerificationPorts,
  stepId: string,
  asked: { readonly command: string; readonly callId: string },
): Promise<VerificationResult> {
  const { command, callId } = asked;
  const { session, turnId, tools, answers, signal } = ports;
  const { redactor } = session.services;
  if (provesNothing(command)) {
    const text = `The verification of step ${JSON.stringify(stepId)} proves nothing: this command always passes.`;
    session.writer.emit({ type: "warning", text }, { turnId });
  }
  const call = { id: callId, name: "Bash", argumentsJson: JSON.stringify({ command }) };
  answers.expect({ callId: call.id, tool: "Bash", args: { command }, seen: undefined, changed: "anything" });
  const shown = await redactor.redact(call.argumentsJson);
  session.writer.emit({ type: "tool-call", id: call.id, name: call.name, argumentsJson: shown }, { turnId });
  const [result] = await tools.run([call], { turnId, signal });
  const output = await boundedEvidence(redactor, result?.output ?? "");
  const exitCode = result?.exitCode;
  const passed =
    result !== undefined && !result.refused && result.error === undefined && exitCode === 0 && output !== "";
  return {
    stepId,
    passed,
    output,
    command: await redactor.redact(command),
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

/** Characters of evidence kept for a step or a command; the full output is in the session's tool results. */
const maxCharacters = 4_000;

/** Redacted, then shortened: the beginning and, since failures come last, more of the end. */
export async function boundedEvidence(redactor: Redactor, text: string): Promise<string> {
  const redacted = (await redactor.redact(text)).toWellFormed();
  if (redacted.length <= maxCharacters) return redacted;
  const start = redacted.slice(0, maxCharacters / 4).toWellFormed();
  const end = redacted.slice(-(maxCharacters / 4) * 3).toWellFormed();
  return `${start}\n[… ${redacted.length - maxCharacters} characters left out …]\n${end}`;
}

/** Programs whose result does not depend on what the plan did. */
const saysNothing: ReadonlySet<string> = new Set([
  "true",
  ":",
  "echo",
  "printf",
  "exit",
  "pwd",
  "sleep",
  "date",
  "cd",
  "yes",
]);

/** True for a command that always passes and therefore proves nothing, e.g. `true` or `echo ok`. */
export function provesNothing(command: string): boolean {
  const { commands, unresolved } = analyseCommand(command, { cwd: "/", home: "/" });
  return unresolved.length === 0 && commands.every(({ name }) => saysNothing.has(name));
}
