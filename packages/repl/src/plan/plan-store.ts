import type { CallOptions } from "@gennai/client/connection/connection";
import { type PlanTokens, spent } from "@gennai/client/plan-guard";
import type { SessionPlans, SubmittedPlan } from "@gennai/client/session-plans";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { Plan, PlanIssue } from "@gennai/protocol/model/governance/plan";
import type { VerificationResult } from "@gennai/protocol/model/governance/verification-result";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import { correctionRequestText } from "@gennai/protocol/plan-correction";
import { gathered, PanelStore, type StoreCall } from "../look/panel-store.ts";
import type { Problem } from "../look/problem.ts";
import { type PlanAct, type PlanFacts, planChecks } from "./plan-checks.ts";

export type PlanBusy = "plan" | PlanAct;

/** A submitted text that is not a plan, and why. */
export interface RejectedOutput {
  readonly raw: string;
  readonly envelopeKind: string;
  readonly issues: readonly PlanIssue[];
}

export interface PlanView extends PlanTokens {
  /** What a person asked for last, until there is a plan for it. */
  readonly goal: string | undefined;
  /** Newest first. */
  readonly plans: readonly Plan[];
  readonly plan: Plan | undefined;
  readonly shown: PlanFacts["shown"];
  readonly changeSetId: string | undefined;
  readonly results: readonly VerificationResult[];
  readonly rejected: RejectedOutput | undefined;
  readonly busy: PlanBusy | undefined;
  readonly problem: Problem | undefined;
}

export interface PlanStoreOptions {
  readonly plans: Pick<SessionPlans, "submit" | "preview" | "approve" | "execute" | "verify" | "get" | "list">;
  /** Has a model write a plan for a request (`writePlan`). */
  readonly write: (request: string, options: CallOptions) => Promise<string>;
  readonly undo: (changeSetId: string, options: CallOptions) => Promise<unknown>;
  readonly now?: () => number;
}

const nothing: PlanView = {
  goal: undefined,
  plans: [],
  plan: undefined,
  shown: undefined,
  approval: undefined,
  run: undefined,
  changeSetId: undefined,
  results: [],
  rejected: undefined,
  busy: undefined,
  problem: undefined,
};

/**
 * The plans of a session and what a person does with them. Tokens are only in memory, and only here. Nothing is sent that
 * `planChecks` does not allow. `handle` must get the session's events: they report progress.
 */
export class PlanStore extends PanelStore<PlanView> {
  readonly #options: PlanStoreOptions;
  /** Id of the plan in the newest event. */
  #newestId = "";
  readonly #runs = new PlanRuns();
  /** Events come in bursts, most of all in a replay. A failure is ignored: the next event, or the person, asks again. */
  readonly #refreshing = gathered(() => this.#refresh().catch(() => undefined));

  constructor(options: PlanStoreOptions) {
    super(nothing, options.now);
    this.#options = options;
  }

  get facts(): PlanFacts {
    const { plan, shown, approval, run, changeSetId, busy } = this.state.value;
    return { plan, shown, approval, run, changeSetId, busy: busy !== undefined, now: this.#now() };
  }

  /** Loads the session's plans and shows the newest, unless one is shown. */
  async load(): Promise<void> {
    await this.guard("Load plans", async (options) => {
      const plans = await this.#options.plans.list(options);
      this.set({ plans });
      const { plan } = this.state.peek();
      const shown = plans.find(({ planId }) => planId === plan?.planId) ?? plans[0];
      if (shown !== undefined) this.#show(shown);
    });
  }

  async select(planId: string): Promise<void> {
    await this.guard("Load plan", async (options) => this.#show(await this.#options.plans.get(planId, options)));
  }

  /** Runs a turn in which the model writes a plan. */
  async plan(goal: string): Promise<void> {
    this.set({ goal });
    await this.#write(goal);
  }

  async #write(request: string): Promise<void> {
    await this.#act("plan", "Plan", async (options) => {
      const raw = await this.#options.write(request, options);
      this.#submitted(raw, await this.#options.plans.submit(raw, options));
    });
    await this.#look();
  }

  /** Tells the model what is wrong with its output, and has it write again. */
  async regenerate(): Promise<void> {
    const { rejected } = this.state.peek();
    if (rejected !== undefined) await this.#write(correctionRequestText(rejected.issues));
  }

  /** Submits a text that a person wrote or edited; it becomes a new draft. */
  async submit(text: string): Promise<void> {
    await this.#act("plan", "Submit plan", async (options) => {
      this.#submitted(text, await this.#options.plans.submit(text, options));
    });
    await this.#look();
  }

  /** What a new draft would do is shown at once: to look changes nothing. */
  async #look(): Promise<void> {
    if (this.state.peek().plan?.state === "draft" && planChecks(this.facts).preview.allowed) await this.preview();
  }

  async preview(): Promise<void> {
    await this.#checked("preview", "Preview", async (before, options) => {
      const { plan, actions } = await this.#options.plans.preview(before.planId, options);
      this.#show(plan);
      this.set({ shown: { planId: plan.planId, digest: plan.digest, actions } });
    });
  }

  /** A person approves exactly what is shown; then it runs, and what it did is verified. Ends with the first problem. */
  async approveAndRun(): Promise<void> {
    for (const step of [() => this.approve(), () => this.execute(), () => this.verify()]) {
      await step();
      if (this.state.peek().problem !== undefined) return;
    }
  }

  async approve(): Promise<void> {
    await this.#checked("approve", "Approve", async ({ planId, digest }, options) => {
      const { approvalToken, expires } = await this.#options.plans.approve(planId, digest, options);
      this.set({ approval: { planId, digest, token: approvalToken, expires } });
    });
  }

  async execute(): Promise<void> {
    const { approval } = this.state.peek();
    await this.#checked("execute", "Execute", async ({ planId, digest }, options) => {
      if (approval === undefined) return;
      this.set({ ...spent(this.state.peek()), results: [] });
      this.#show(await this.#options.plans.execute(planId, digest, approval.token, options));
    });
  }

  async verify(): Promise<void> {
    const { run } = this.state.peek();
    await this.#checked("verify", "Verify", async ({ planId, digest }, options) => {
      if (run === undefined) return;
      const { plan, results } = await this.#options.plans.verify(planId, digest, run.token, options);
      this.#show(plan);
      this.set({ results });
    });
  }

  async rollback(): Promise<void> {
    const { changeSetId } = this.state.peek();
    await this.#checked("rollback", "Rollback", async ({ planId }, options) => {
      if (changeSetId === undefined) return;
      await this.#options.undo(changeSetId, options);
      this.#runs.undone(changeSetId);
      this.#show(await this.#options.plans.get(planId, options));
    });
  }

  /** Takes an event of the session, also a replayed one. */
  handle(event: InvokeEvent): void {
    this.#runs.handle(event);
    if (event.event.case === "planChanged") {
      this.#newestId = event.event.value.planId;
      void this.#refreshing();
    }
    if (event.event.case === "changeSetApplied" || event.event.case === "changeSetUndone") {
      this.set({ changeSetId: this.#runs.changeSetOf(this.state.peek().plan) });
    }
  }

  async #refresh(): Promise<void> {
    this.over.throwIfAborted();
    const plans = await this.#options.plans.list({ signal: this.over });
    this.set({ plans });
    const shownId = this.state.peek().plan?.planId ?? this.#newestId;
    const plan = plans.find(({ planId }) => planId === shownId);
    if (plan !== undefined) this.#show(plan);
  }

  #submitted(raw: string, { plan, issues, envelopeKind }: SubmittedPlan): void {
    if (plan === undefined) {
      this.set({ rejected: { raw, issues, envelopeKind } });
      return;
    }
    this.#show(plan);
    this.set({ rejected: undefined, goal: undefined });
  }

  #show(plan: Plan): void {
    const { plans, plan: before, shown } = this.state.peek();
    const others = plans.some(({ planId }) => planId === plan.planId)
      ? plans.map((each) => (each.planId === plan.planId ? plan : each))
      : [plan, ...plans];
    const same = before?.planId === plan.planId;
    this.set({
      plan,
      plans: others,
      changeSetId: this.#runs.changeSetOf(plan),
      ...(same ? {} : { results: [] }),
      ...(shown?.digest === plan.digest && shown.planId === plan.planId ? {} : { shown: undefined }),
    });
  }

  async #checked(act: PlanAct, name: string, run: (plan: Plan, options: CallOptions) => Promise<void>): Promise<void> {
    const { facts } = this;
    const check = planChecks(facts)[act];
    if (!check.allowed) {
      this.fail(new Error(check.reason), name);
      return;
    }
    const { plan } = facts;
    if (plan !== undefined) await this.#act(act, name, (options) => run(plan, options));
  }

  async #act(busy: PlanBusy, name: string, run: (options: StoreCall) => Promise<void>): Promise<void> {
    if (this.state.peek().busy !== undefined) return;
    await this.attempt(name, { during: { busy }, after: { busy: undefined } }, run);
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

/** The actions of one step. */
export function actionsOf(shown: PlanFacts["shown"], stepId: string): readonly PlannedAction[] {
  return shown?.actions.filter((action) => action.stepId === stepId) ?? [];
}

/** What the runs of plans changed, by the session's events. A run's change set has the id of its turn. */
class PlanRuns {
  readonly #turns = new Map<string, string>();
  readonly #changeSets = new Set<string>();

  handle(event: InvokeEvent): void {
    const { event: body, turnId } = event;
    if (body.case === "planChanged" && body.value.stepId !== "") this.#turns.set(body.value.planId, turnId);
    if (body.case === "changeSetApplied") this.#changeSets.add(body.value.changeSetId);
    if (body.case === "changeSetUndone") this.#changeSets.delete(body.value.changeSetId);
  }

  /** The plan's change set was taken back; called before the event arrives. */
  undone(changeSetId: string): void {
    this.#changeSets.delete(changeSetId);
  }

  /** undefined: the plan has changed nothing, or that was taken back. */
  changeSetOf(plan: Plan | undefined): string | undefined {
    const run = plan === undefined ? undefined : this.#turns.get(plan.planId);
    return run !== undefined && this.#changeSets.has(run) ? run : undefined;
  }
}
