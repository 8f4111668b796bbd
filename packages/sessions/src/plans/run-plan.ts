import type { TurnEnd } from "@gennai/agent/loop/turn-loop";
import type { CallResult } from "@gennai/governance/gate/gate";
import type { PlanChange } from "@gennai/governance/plan-change";
import type { PlanRecord } from "@gennai/governance/plan-record";
import { declaredRiskOf, type StepContract, stepContracts, toolOfAction } from "@gennai/governance/step-contract";
import { ToolFailure } from "@gennai/governance/tool-error";
import { ServiceError } from "@gennai/machine/service-error";
import type { StepState } from "@gennai/protocol/model/governance/plan";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { PlanAction } from "@gennai/protocol/plan-schema";
import { remediationOf } from "../session/interrupted-turn.ts";
import { finalText } from "../session/own-turn.ts";
import type { KnownFiles } from "../session/state/known-files.ts";
import { actionKey, argumentsOf, type Inspection } from "./inspect-plan.ts";
import type { ApprovedCall, SeenCall } from "./plan-answers.ts";
import { planEntry } from "./plan-entry.ts";
import { type FileAction, readFileNow, shaOf, textAfter } from "./plan-file.ts";
import { loadPlan } from "./stored-plan.ts";
import { boundedEvidence, type PlanTurnPorts } from "./verify-plan.ts";

export interface PlanRunPorts extends PlanTurnPorts {
  /** The bases that writes are checked against: the files as they were previewed. */
  readonly known: KnownFiles;
  readonly inspection: Pick<Inspection, "seen" | "bases">;
}

/** For an action that could not be decided at the preview: nothing about it was approved. */
const nothingSeen: SeenCall = { paths: [], operands: {} };

interface ActionPosition {
  readonly stepId: string;
  /** 0-based, both. */
  readonly stepIndex: number;
  readonly index: number;
  /** What the plan says of the step. */
  readonly declaredRisk: Risk;
}

/** What happened to one action. */
interface ActionEnd {
  readonly failure?: { readonly failureClass: FailureClass; readonly message: string };
  /** It may have had an effect outside this server. */
  readonly tookEffect: boolean;
  /** There is evidence of its effect. */
  readonly seen: boolean;
  readonly evidence: string;
}

/** Runs an approved plan step by step, every action through the gate. The plan's end is in the log when this resolves. */
export async function runPlan(ports: PlanRunPorts): Promise<TurnEnd> {
  return new PlanRun(ports).run();
}

class PlanRun {
  readonly #ports: PlanRunPorts;
  readonly #states = new Map<string, StepState>();
  #changed: ApprovedCall["changed"] = new Set();
  #tookEffect = false;
  #seen = true;

  constructor(ports: PlanRunPorts) {
    this.#ports = ports;
  }

  async run(): Promise<TurnEnd> {
    const { signal } = this.#ports;
    const ids = this.#record.steps.map(({ stepId }) => stepId);
    for (const [index, stepId] of ids.entries()) {
      try {
        await this.#step(stepId, index);
      } catch (error) {
        // Record which step failed, whatever the error, and run nothing that depends on it.
        if (!signal.aborted && !(error instanceof ServiceError)) this.#ports.session.services.onUnexpectedError(error);
        const known = error instanceof ServiceError;
        const evidence = known
          ? error.message
          : signal.aborted
            ? "The run was stopped."
            : "The step failed unexpectedly.";
        await this.#ended(stepId, "failed", evidence, known ? "permission_denied" : "partial_execution");
      }
    }
    return this.#end();
  }

  get #record(): PlanRecord {
    const { session, planId } = this.#ports;
    const record = session.state.plans.get(planId);
    if (record === undefined) throw new ServiceError("not_found", "The plan is no longer in the log.");
    return record;
  }

  async #step(stepId: string, index: number): Promise<void> {
    const { session, signal } = this.#ports;
    // The digest is checked again, just before the run.
    const { parsed } = await loadPlan(session.services.blobs, this.#record);
    const risks = new Map(this.#record.steps.map((step) => [step.stepId, step.risk]));
    const step = stepContracts(parsed, risks)[index];
    const declared = parsed.plan.steps[index];
    if (step === undefined || declared === undefined || step.id !== stepId)
      throw new ServiceError("failed_precondition", "The plan lacks this step.");
    const missing = step.dependsOn.find((needed) => this.#states.get(needed) !== "executed");
    if (missing !== undefined || signal.aborted) {
      const why = signal.aborted ? "The run was stopped." : `Step ${JSON.stringify(missing)} was not executed.`;
      await this.#ended(stepId, "skipped", why);
      return;
    }
    await this.#change({ type: "step", stepId, state: "running", evidence: "" });
    await this.#actions(step, { stepId, stepIndex: index, declaredRisk: declaredRiskOf(declared) });
  }

  async #actions(step: StepContract, place: Omit<ActionPosition, "index">): Promise<void> {
    const evidence: string[] = [];
    for (const [index, action] of step.actions.entries()) {
      const end = await this.#action({ ...place, index }, action);
      evidence.push(end.evidence);
      this.#tookEffect ||= end.tookEffect;
      this.#seen &&= end.seen;
      if (end.failure !== undefined) {
        evidence.push(end.failure.message);
        await this.#ended(step.id, "failed", evidence.join("\n"), end.failure.failureClass);
        return;
      }
    }
    await this.#ended(step.id, "executed", evidence.join("\n"));
  }

  async #action(place: ActionPosition, action: PlanAction): Promise<ActionEnd> {
    const { session, planId, turnId, tools, answers, inspection, signal } = this.#ports;
    const { stepId, stepIndex, index, declaredRisk } = place;
    let text: string | undefined;
    if (action.type !== "command") {
      const worked = await this.#workOut(action);
      if ("tookEffect" in worked) return worked;
      text = worked.text;
    }
    const name = toolOfAction(action);
    const args = argumentsOf(action, text);
    // Unique, because a plan runs once; every record of the call names plan, step and action.
    const call = {
      id: `plan-${planId}-step${stepIndex + 1}-action${index + 1}`,
      name,
      argumentsJson: JSON.stringify(args),
      declaredRisk,
    };
    answers.expect({
      callId: call.id,
      tool: name,
      args,
      seen: inspection.seen.get(actionKey(stepId, index)) ?? nothingSeen,
      changed: this.#changed,
    });
    const shown = await session.services.redactor.redact(call.argumentsJson);
    session.writer.emit({ type: "tool-call", id: call.id, name, argumentsJson: shown }, { turnId });
    const [result] = await tools.run([call], { turnId, signal });
    if (result === undefined) throw new Error("The gate gave no result.");
    if (!result.refused) await this.#observe(action);
    return endOf(result, name);
  }

  /** The text to write, or the action's end if nothing is to be written. */
  async #workOut(action: FileAction): Promise<{ readonly text: string } | ActionEnd> {
    const { session, known, signal } = this.#ports;
    try {
      const path = await session.workspace.resolve(action.path);
      if (!path.inside) return { text: action.type === "file_write" ? action.content : "" };
      const now = await readFileNow(session.workspace, path, signal);
      if (known.base(path.relative)?.sha256 !== shaOf(now)) {
        return failedAction("command_error", `Stale File: ${action.path} changed since the plan was previewed.`);
      }
      const after = textAfter(action, now);
      if (after.type === "conflict") return failedAction("command_error", after.reason);
      if (now.type === "text" && now.text === after.text) {
        return { tookEffect: false, seen: true, evidence: `${action.path} already has exactly this text.` };
      }
      return { text: after.text };
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      return failedAction(error.failureClass, error.message);
    }
  }

  /** The result of the run's own actions is the base for later ones. */
  async #observe(action: PlanAction): Promise<void> {
    const { session, known, inspection, signal } = this.#ports;
    if (action.type === "command") this.#changed = "anything";
    const own = action.type === "command" ? undefined : (await session.workspace.resolve(action.path)).relative;
    for (const path of inspection.bases.keys()) {
      if (own !== undefined && path !== own) continue;
      if (own !== undefined && this.#changed !== "anything") this.#changed = new Set([...this.#changed, own]);
      try {
        const now = await readFileNow(session.workspace, await session.workspace.resolve(path), signal);
        known.observe({ path, source: "disk", sha256: shaOf(now) });
      } catch (error) {
        // E.g. a directory at its path: the action that needs the file will report it.
        if (!(error instanceof ToolFailure)) throw error;
      }
    }
  }

  async #ended(stepId: string, state: StepState, evidence: string, failureClass?: FailureClass): Promise<void> {
    this.#states.set(stepId, state);
    const bounded = await boundedEvidence(this.#ports.session.services.redactor, evidence);
    const failure = failureClass === undefined ? {} : { failureClass };
    await this.#change({ type: "step", stepId, state, evidence: bounded, ...failure });
  }

  async #end(): Promise<TurnEnd> {
    const { session, turnId, planId, signal } = this.#ports;
    const claimed = [...this.#states.values()].every((state) => state === "executed");
    const { parsed } = await loadPlan(session.services.blobs, this.#record).catch(() => ({ parsed: undefined }));
    const provable = parsed?.plan.steps.some(
      (step) => (step.verify?.length ?? 0) > 0 || ("verification_plan" in step && step.verification_plan.length > 0),
    );
    const state = claimed ? (provable === true ? "verifying" : "unverified") : this.#tookEffect ? "partial" : "failed";
    const remediation =
      state === "verifying"
        ? ""
        : state === "unverified"
          ? "Nothing in this plan proves that it worked: check it yourself, or submit a plan with verification commands."
          : remediationOf(state, session.state, turnId);
    const change = { type: "run-ended", state, claimed, executed: claimed && this.#seen, remediation } as const;
    const steps = Object.fromEntries(this.#states);
    const text = `Plan ${state}. ${Object.entries(steps)
      .map(([id, end]) => `${id}: ${end}`)
      .join(", ")}. ${remediation}`.trim();
    await session.writer.commit([{ type: "plan-changed", planId, change }, finalText(text)], {
      turnId,
      ledger: [planEntry(session, turnId, "outcome", { plan: { id: planId, state, steps } })],
      durable: true,
    });
    if (signal.aborted) return { type: "cancelled" };
    return claimed
      ? { type: "completed" }
      : {
          type: "failed",
          code: `plan_${state}`,
          message: `The plan ended ${state}.`,
          hint: remediation,
          retryable: false,
        };
  }

  async #change(change: PlanChange): Promise<void> {
    const { session, turnId, planId } = this.#ports;
    await session.writer.commit([{ type: "plan-changed", planId, change }], { turnId, durable: false });
  }
}

function endOf(result: CallResult, tool: string): ActionEnd {
  const { error, refused, failureClass, verification, output } = result;
  const evidence = `[${tool}] ${output}`;
  const seen = verification.state === "verified";
  if (refused || error !== undefined || verification.state === "failed") {
    return {
      evidence,
      seen: false,
      tookEffect: !refused && (failureClass === "partial_execution" || failureClass === "timeout"),
      failure: {
        failureClass: failureClass ?? "command_error",
        message: error?.message ?? verification.evidence,
      },
    };
  }
  return { tookEffect: true, seen, evidence };
}

function failedAction(failureClass: FailureClass, message: string): ActionEnd {
  return { failure: { failureClass, message }, tookEffect: false, seen: false, evidence: "" };
}
