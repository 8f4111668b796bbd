import { randomUUID } from "node:crypto";
import { warningEvent } from "@gennai/agent/events/warning";
import type { PlanApproval as KeptApproval, StepRisk } from "@gennai/governance/plan-change";
import type { PlanRecord } from "@gennai/governance/plan-record";
import { contractIssues, stepContracts } from "@gennai/governance/step-contract";
import { OneByOne } from "@gennai/machine/one-by-one";
import { ServiceError } from "@gennai/machine/service-error";
import type { PlanIssue } from "@gennai/protocol/model/governance/plan";
import { type EnvelopeKind, validateRinaOutput } from "@gennai/protocol/validate-rina-output";
import { placeOfCommands } from "../client-workspace/held-by-client.ts";
import { chooseScenario } from "../policies/load-scenarios.ts";
import { followed, opening } from "../session/own-turn.ts";
import type { PreparedTurn } from "../session/prepared-turn.ts";
import type { Session } from "../session/session.ts";
import { KnownFiles } from "../session/state/known-files.ts";
import { buildTurnGate } from "../turn/turn-gate.ts";
import { ApprovalTokens, isToken, machineClock } from "./approval-tokens.ts";
import { type Inspection, inspectPlan, planRunScenario } from "./inspect-plan.ts";
import { PlanAnswers } from "./plan-answers.ts";
import { assertBranchMode, assertDigest, assertHead, recordOf } from "./plan-checks.ts";
import { planEntry } from "./plan-entry.ts";
import { asksAgain, assertSomebodyCanAnswer, verificationAsksAgain, waitingFor } from "./plan-questions.ts";
import { assertPlanMay, planRefusal } from "./plan-refusal.ts";
import { insteadOf, type PlanView, planView } from "./plan-view.ts";
import { assertSamePreview, headOf } from "./preview-basis.ts";
import { runPlan } from "./run-plan.ts";
import { loadPlan, storedBytes, storePlan } from "./stored-plan.ts";
import { verifyPlan } from "./verify-plan.ts";
import { writtenBy } from "./written-by.ts";

const maxPlans = 500;

/** Who approves. `loopback` came without a credential and is trusted less. */
export interface Approver {
  readonly who: string;
  readonly channel: "authenticated" | "loopback";
}

export interface SubmittedPlan {
  /** Unset if there are issues, or if the envelope contains no plan. */
  readonly plan?: PlanView;
  readonly issues: readonly PlanIssue[];
  readonly envelopeKind: EnvelopeKind;
}

export interface PlanApproval {
  /** 256 bits, base64url; shown once, spent once. */
  readonly approvalToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Plans of sessions: exactly the approved plan runs, byte for byte. Plans and approvals are stored in the sessions' logs: what one server
 * process approved, another may run, once. Callers give an id and a digest. All methods reject with `ServiceError`: `not_found` for an
 * unknown plan, `failed_precondition` for a wrong state, `permission_denied` for a wrong digest, token or binding.
 */
export class SessionPlans {
  readonly #tokens: ApprovalTokens;
  /** One change of a session's plans at a time. */
  readonly #lines = new OneByOne<Session>();

  /** @param wall milliseconds since the epoch */
  constructor(wall: () => number) {
    // Only the machine's clock is the same in the process that approved and the one that runs.
    this.#tokens = new ApprovalTokens(machineClock(wall));
  }

  /**
   * Validates a plan, an envelope, or model output that contains one, and stores the plan as a draft.
   * @param options.strict the text must be only the JSON
   * @param options.contract every step must have the contract of seed 003; otherwise seed 000's form is accepted too
   */
  async submit(
    session: Session,
    text: string,
    options: { readonly strict: boolean; readonly contract: boolean },
  ): Promise<SubmittedPlan> {
    const output = validateRinaOutput(text, options);
    if (output.kind === "invalid") return { issues: output.issues, envelopeKind: output.claims };
    if (output.kind !== "plan") return { issues: [], envelopeKind: output.kind };
    const { plan } = output;
    const { risks } = await inspectPlan(session, plan.parsed, notStopped());
    const issues: readonly PlanIssue[] = contractIssues(plan.parsed, risks);
    if (issues.length > 0) return { issues, envelopeKind: "plan" };
    return this.#alone(session, async () => {
      if (session.state.plans.size >= maxPlans) {
        throw planRefusal(
          "too_many_plans",
          `This session has reached its limit of ${maxPlans} plans.`,
          "Start another session.",
        );
      }
      await storePlan(session.services.blobs, plan);
      const planId = randomUUID();
      const title = await session.services.redactor.redact(plan.parsed.plan.title);
      const steps = stepRisks(plan.parsed.plan.steps, risks);
      await session.announce({
        type: "plan-changed",
        planId,
        change: { type: "submitted", digest: plan.digest, title, steps, ...writtenBy(session, plan.digest, options) },
      });
      return { plan: planView(recordOf(session, planId), plan), issues: [], envelopeKind: "plan" } as const;
    });
  }

  /** Diffs and the gate's verdict on every action; nothing runs. Afterwards the plan awaits approval, unless an action is denied. */
  preview(session: Session, planId: string) {
    return this.#alone(session, async () => {
      const record = recordOf(session, planId);
      assertPlanMay(record, "previewed");
      assertBranchMode(session);
      const plan = await loadPlan(session.services.blobs, record);
      const inspection = await inspectPlan(session, plan.parsed, notStopped());
      assertPlanMay(recordOf(session, planId), "previewed");
      const steps = stepRisks(plan.parsed.plan.steps, inspection.risks);
      const { actions, preview } = inspection;
      await session.announce({ type: "plan-changed", planId, change: { type: "previewed", steps, preview } });
      if (preview.denied === undefined && preview.unfit === undefined) {
        await session.announce({ type: "plan-changed", planId, change: { type: "offered" } });
      }
      return { plan: planView(recordOf(session, planId), plan), actions };
    });
  }

  /** A user's approval of exactly this digest, of a previewed plan. Voids an earlier token of the plan. */
  approve(session: Session, planId: string, digest: string, by: Approver): Promise<PlanApproval> {
    return this.#alone(session, async () => {
      const record = recordOf(session, planId);
      assertDigest(record, digest);
      const { preview } = record;
      if (preview?.denied !== undefined) {
        throw planRefusal("action_denied", `The plan cannot be approved: ${preview.denied}`, insteadOf(preview.denied));
      }
      if (preview?.unfit !== undefined) {
        throw planRefusal(
          "change_does_not_fit",
          `The plan cannot be approved: ${preview.unfit}`,
          "Submit a plan that fits the files as they are now.",
        );
      }
      assertPlanMay(record, "approved");
      assertBranchMode(session);
      if (preview === undefined) {
        throw planRefusal("not_previewed", "The plan was not previewed yet.", "Preview it.");
      }
      await loadPlan(session.services.blobs, record);
      const { place: workspaceRoot } = session.workspace;
      await session.workspace.syncControl();
      assertHead(preview.head, headOf(session.workspace.controlRoot));
      const who = await session.services.redactor.redact(by.who);
      const { channel } = by;
      const { token, approval } = this.#tokens.issue({
        sessionId: session.id,
        planId,
        digest,
        workspaceRoot,
        preview,
        by: who,
        channel,
      });
      await session.decided(
        [{ type: "plan-changed", planId, change: { type: "approved", by: who, channel, approval } }],
        "session",
        { plan: { id: planId, digest, approved_by: who, channel, shown_sha256: preview.shownSha256 } },
      );
      return { approvalToken: token, expiresAt: approval.expires.wall };
    });
  }

  /** Spends the token and runs the plan as a turn of the session; resolves when the run has ended, successful or not. */
  async execute(
    session: Session,
    planId: string,
    digest: string,
    token: string,
    options: { readonly signal: AbortSignal },
  ): Promise<PlanView> {
    assertDigest(recordOf(session, planId), digest);
    this.#refuseSpent(session, planId, token);
    const run = await session.turns.start((turnId, signal) =>
      this.#alone(session, () => this.#prepareRun(session, { planId, digest, token, turnId, signal }), signal),
    );
    await followed(session, run, { ...options, why: stoppedBy });
    return this.get(session, planId);
  }

  /** Runs the verification commands of the run that this token started. */
  async verify(
    session: Session,
    planId: string,
    digest: string,
    token: string,
    options: { readonly signal: AbortSignal },
  ) {
    assertDigest(recordOf(session, planId), digest);
    if (token === "") throw planRefusal("token_missing", "There is no approval token.");
    const run = await session.turns.start((turnId, signal) =>
      this.#alone(session, () => this.#prepareVerification(session, { planId, token, turnId, signal }), signal),
    );
    await followed(session, run, { ...options, why: stoppedBy });
    const plan = await this.get(session, planId);
    return { plan, results: plan.results };
  }

  async get(session: Session, planId: string): Promise<PlanView> {
    return this.#view(session, recordOf(session, planId));
  }

  /** Newest first. */
  async list(session: Session): Promise<readonly PlanView[]> {
    const newestFirst = [...session.state.plans.values()].reverse();
    return Promise.all(newestFirst.map((record) => this.#view(session, record)));
  }

  async #view(session: Session, record: PlanRecord): Promise<PlanView> {
    try {
      if ((await storedBytes(session.services.blobs, record)) === undefined) return planView(record, undefined);
      return planView(record, await loadPlan(session.services.blobs, record));
    } catch (error) {
      // A damaged plan must not hide the others; it is listed, but cannot be used.
      if (!(error instanceof ServiceError) || error.reason !== "plan_damaged") throw error;
      const remediation = `${error.message} ${error.hint ?? ""} ${record.remediation}`.trim();
      return planView({ ...record, remediation }, undefined);
    }
  }

  async #prepareRun(session: Session, asked: Asked & { readonly digest: string }): Promise<PreparedTurn> {
    const { planId, digest, token, turnId, signal } = asked;
    const { services, workspace } = session;
    services.emergency.assertTurnsMayStart();
    this.#refuseSpent(session, planId, token);
    assertPlanMay(recordOf(session, planId), "run-opened");
    assertBranchMode(session);
    const approval = await this.#approvalOf(session, planId, digest, token);
    if (approval.workspaceRoot !== workspace.place) {
      throw planRefusal("token_bound_elsewhere", "The approval was given for another workspace.");
    }
    await workspace.syncControl({ signal });
    assertHead(approval.preview.head, headOf(workspace.controlRoot));
    const plan = await loadPlan(services.blobs, recordOf(session, planId));
    // Inspected again: only what was shown may run.
    const inspection = await inspectPlan(session, plan.parsed, { signal });
    assertSamePreview(approval.preview, inspection.preview);
    const known = new KnownFiles();
    for (const [path, sha256] of inspection.bases) known.observe({ path, source: "disk", sha256 });
    const answers = new PlanAnswers({
      by: `plan approved by ${approval.by}`,
      commandsAskAgain: approval.channel === "loopback" && placeOfCommands(session).isolation === "unsandboxed",
    });
    const { channel } = approval;
    await assertSomebodyCanAnswer(session, channel, asksAgain(inspection, plan.parsed, answers));
    const { scenario } = await chooseScenario(session, planRunScenario);
    const gate = await buildTurnGate(session, scenario, {
      turnId,
      modelId: recordOf(session, planId).modelId,
      signal,
      knownFiles: known,
      remembered: answers,
      ...waitingFor(channel),
    });
    if (gate.policySha256 !== approval.preview.policySha256) {
      gate[Symbol.dispose]();
      throw planRefusal(
        "policy_changed",
        "The rules changed since the plan was approved.",
        "Preview and approve it again.",
      );
    }
    const { tokenSha256, by } = approval;
    const opened = { type: "run-opened", runTurnId: turnId, tokenSha256 } as const;
    const details = { plan: { id: planId, digest, approved_by: by, channel } };
    return {
      openingEvents: await opening(session, openingOf(turnId, `Run the approved plan: ${plan.parsed.plan.title}`), [
        { type: "plan-changed", planId, change: opened },
        ...gate.warnings.map(warningEvent),
      ]),
      openingRecords: { ledger: [planEntry(session, turnId, "intent", details)], spentTokens: [tokenSha256] },
      gate,
      run: () => runPlan({ session, planId, turnId, tools: gate.tools, answers, known, inspection, signal }),
    };
  }

  async #prepareVerification(session: Session, asked: Asked): Promise<PreparedTurn> {
    const { planId, token, turnId, signal } = asked;
    const { services } = session;
    services.emergency.assertTurnsMayStart();
    const record = recordOf(session, planId);
    if (!isToken(token, record.tokenSha256)) {
      throw planRefusal("token_unknown", "This is not the token that opened the plan's run.");
    }
    assertPlanMay(record, "verification-opened");
    assertBranchMode(session);
    const plan = await loadPlan(services.blobs, record);
    const risks = new Map(record.steps.map(({ stepId, risk }) => [stepId, risk]));
    const steps = stepContracts(plan.parsed, risks);
    const channel = record.approvedBy?.channel === "authenticated" ? "authenticated" : "loopback";
    const answers = new PlanAnswers({
      by: `plan approved by ${record.approvedBy?.who ?? ""}`,
      commandsAskAgain: channel === "loopback" && placeOfCommands(session).isolation === "unsandboxed",
    });
    const { scenario } = await chooseScenario(session, planRunScenario);
    using unused = new DisposableStack();
    const gate = unused.use(
      await buildTurnGate(session, scenario, {
        turnId,
        modelId: record.modelId,
        signal,
        remembered: answers,
        ...waitingFor(channel),
      }),
    );
    await assertSomebodyCanAnswer(
      session,
      channel,
      await verificationAsksAgain(gate.tools, { steps, answers, turnId, signal }),
    );
    unused.move();
    const change = { type: "verification-opened", turnId } as const;
    return {
      openingEvents: await opening(session, openingOf(turnId, `Verify the plan: ${plan.parsed.plan.title}`), [
        { type: "plan-changed", planId, change },
      ]),
      gate,
      run: () => verifyPlan({ session, planId, turnId, tools: gate.tools, answers, steps, signal }),
    };
  }

  /** The approval for this token, according to the log. Guessing invalidates it for all processes. */
  async #approvalOf(session: Session, planId: string, digest: string, token: string): Promise<KeptApproval> {
    const { approval } = recordOf(session, planId);
    try {
      return this.#tokens.find(token, { sessionId: session.id, planId, digest, approval });
    } catch (error) {
      if (error instanceof ServiceError && error.reason === "too_many_attempts") {
        await session.announce({ type: "plan-changed", planId, change: { type: "approval-voided" } });
      }
      throw error;
    }
  }

  #refuseSpent(session: Session, planId: string, token: string): void {
    if (!isToken(token, recordOf(session, planId).tokenSha256)) return;
    throw planRefusal("token_spent", "The approval token was spent already.", "Submit and approve the plan again.");
  }

  /** One call at a time. One whose `signal` aborted delays no other: its result is not used. */
  #alone<Result>(session: Session, body: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    if (signal === undefined) return this.#lines.run(session, body);
    const { promise, resolve } = Promise.withResolvers<Result>();
    const held = this.#lines.run(session, () => {
      const result = body();
      resolve(result);
      return Promise.race([result, givenUp(signal)]);
    });
    // `promise` already reports its failure.
    held.catch(() => undefined);
    return promise;
  }
}

interface Asked {
  readonly planId: string;
  readonly token: string;
  readonly turnId: string;
  readonly signal: AbortSignal;
}

const stoppedBy = "Stopped by the person who executed the plan.";

function openingOf(turnId: string, text: string): Parameters<typeof opening>[1] {
  return { what: "plan", turnId, scenario: planRunScenario, text };
}

function stepRisks(steps: readonly { readonly id: string }[], risks: Inspection["risks"]): readonly StepRisk[] {
  return steps.map(({ id }) => ({ stepId: id, risk: risks.get(id) ?? "high" }));
}

function notStopped(): { readonly signal: AbortSignal } {
  return { signal: new AbortController().signal };
}

function givenUp(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
