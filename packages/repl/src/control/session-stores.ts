import type { GovernanceClient } from "@gennai/client/connection/connection";
import type { ConfirmationQuestion, ConfirmationReply, RequestOptions } from "@gennai/client/connection/editor";
import { getWorkspaceState, prepareBranch } from "@gennai/client/session/workspace-state";
import { SessionPlans } from "@gennai/client/session-plans";
import { traceCall } from "@gennai/client/trace-lines";
import { branchNameFor } from "@gennai/protocol/branch-name";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { CallTrace } from "@gennai/protocol/model/governance/line-trace";
import { plural } from "@gennai/protocol/plural";
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { GovernanceStore } from "../governance/governance-store.ts";
import { RulesStore } from "../governance/rules-store.ts";
import { type Problem, problemOf } from "../look/problem.ts";
import { PlanStore } from "../plan/plan-store.ts";
import { writePlan } from "../plan/write-plan.ts";
import { CheckpointStore } from "../timeline/checkpoint-store.ts";
import { TimelineStore } from "../timeline/timeline-store.ts";
import type { ReplControl } from "./repl-control.ts";
import { AttemptsStore } from "./session/attempts-store.ts";
import { BackgroundStore } from "./session/background-store.ts";
import { ChangeContents } from "./session/change-contents.ts";
import type { FollowedSession } from "./session/followed-session.ts";
import { TodoStore } from "./session/todo-store.ts";

/** The stores of the panels about a session, as long as it is shown. */
export class SessionStores implements Disposable {
  readonly governance: GovernanceStore;
  readonly rules: RulesStore;
  readonly timeline: TimelineStore;
  /** This and the following are undefined while there is no session. */
  readonly plan: PlanStore | undefined;
  readonly todos: TodoStore | undefined;
  readonly checkpoints: CheckpointStore | undefined;
  readonly background: BackgroundStore | undefined;
  readonly attempts: AttemptsStore | undefined;
  readonly changes: ChangeContents | undefined;
  readonly traces: CallTraces | undefined;

  constructor(control: ReplControl, followed: FollowedSession | undefined) {
    const { agent, governance, plans, host } = control;
    const sessionId = followed?.session.sessionId ?? "";
    this.governance = new GovernanceStore({ client: governance, sessionId, by: host.launch.clientName });
    this.rules = new RulesStore(governance, sessionId);
    this.timeline = new TimelineStore({
      client: governance,
      sessionId,
      blob: async (ofSession, sha256, options) =>
        (await agent.getBlob({ sessionId: ofSession, sha256 }, options)).content,
    });
    if (followed === undefined) return;
    const { session } = followed;
    this.plan = new PlanStore({
      plans: new SessionPlans(plans, sessionId),
      write: async (request, options) => {
        // Nothing of a plan can be approved on a protected branch.
        await control.ready();
        await planBranch(followed, { task: request, confirm: control.confirmations.confirm, ...options });
        return writePlan(session, request, options);
      },
      undo: (changeSetId, { signal }) => session.undo({ changeSetId, signal }),
    });
    const todos = computed(() => followed.view.value.facts.value.todos);
    this.todos = new TodoStore({ client: agent, sessionId, todos });
    this.background = new BackgroundStore(agent, sessionId);
    this.attempts = new AttemptsStore({ session, desk: control });
    this.checkpoints = new CheckpointStore(agent, sessionId);
    this.traces = new CallTraces(governance, sessionId);
    this.changes = new ChangeContents((sha256, options) => session.blob(sha256, options));
  }

  handle(events: readonly InvokeEvent[]): void {
    if (this.plan !== undefined) for (const event of events) this.plan.handle(event);
    this.background?.handle(events);
    this.attempts?.handle(events);
    const governed = events.some(({ event }) => event.case !== undefined && governing.has(event.case));
    if (governed && this.governance.state.peek().view !== undefined) void this.governance.load();
    if (governed && this.rules.state.peek().inForce !== undefined) void this.rules.load();
    const ended = events.some(({ event }) => event.case === "usage" || event.case === "toolResult");
    const changed = events.some(({ event }) => event.case === "changeSetApplied" || event.case === "checkpointClosed");
    if (changed && this.checkpoints?.state.peek().list !== undefined) void this.checkpoints.load();
    if (events.some(({ event }) => event.case === "changeSetUndone")) this.traces?.askAgain();
    if (ended && this.timeline.state.peek().loaded && !this.timeline.state.peek().busy) void this.timeline.load();
  }

  [Symbol.dispose](): void {
    for (const store of [
      this.governance,
      this.rules,
      this.timeline,
      this.plan,
      this.todos,
      this.checkpoints,
      this.background,
      this.attempts,
      this.changes,
      this.traces,
    ])
      store?.[Symbol.dispose]();
  }
}

const governing: ReadonlySet<string> = new Set(["emergencyChanged", "rulesChanged", "intentSelected", "ruleViolation"]);

interface Task {
  /** What the user asked for; names the branch. */
  readonly task: string;
  /** Asks the person by a card, like a question of the gate. */
  readonly confirm: (question: ConfirmationQuestion, options: RequestOptions) => Promise<ConfirmationReply>;
  readonly signal: AbortSignal;
}

/**
 * The branch of a plan, which is bound to the one it is approved on: it is asked about before, where nothing can be approved on the
 * present one. After a no the plan is only there to be read. Rejects with `ConnectError` if no branch can be made.
 */
async function planBranch(followed: FollowedSession, { task, confirm, signal }: Task): Promise<void> {
  const { client, sessionId } = followed.session;
  if (followed.settings.value.editingMode !== "branch") return;
  const { git, branch, protectedBy, changedFiles } = await getWorkspaceState(client, { sessionId, signal });
  if (git === "ready" && branch !== undefined && protectedBy === undefined) return;
  const where = branch === undefined ? "HEAD is on no branch" : `Branch ${branch} is protected`;
  const question = {
    requestId: crypto.randomUUID(),
    callId: "",
    title: "Write a plan?",
    intentReflection: "",
    actionStatement: "Write a plan that can be approved",
    impactStatement: changedFiles > 0 ? `${plural(changedFiles, "file")} not committed will come along.` : "",
    modelClaim: "",
    computed: {
      risk: "low",
      paths: [],
      rule: "branch/protected-branch",
      reason: `${where}. A yes begins the branch ${branchNameFor(task)}, and everything goes on there.`,
      policySha256: "",
    },
    actionJson: "{}",
    actionSha256: "",
    rememberStatement: "",
    offeredScopes: ["once"],
    deadline: undefined,
  } as const satisfies ConfirmationQuestion;
  // Where git is not ready, the server says best what to do.
  const reply = git === "ready" ? await confirm(question, { signal }) : { answer: "yes" };
  if (reply.answer === "yes") await prepareBranch(client, { sessionId, task, signal });
}

/** Where a call's lines are at present, as far as it is known. */
type CallTraceState =
  | { readonly type: "not-asked" }
  | { readonly type: "asking" }
  | { readonly type: "traced"; readonly trace: CallTrace }
  | { readonly type: "failed"; readonly problem: Problem };

interface KnownCall {
  readonly turnId: string;
  readonly callId: string;
  readonly state: Signal<CallTraceState>;
}

/** Where the lines of a session's calls are at present: loaded when a reader asks, and again each time. */
export class CallTraces implements Disposable {
  readonly #client: Pick<GovernanceClient, "traceCall">;
  readonly #sessionId: string;
  readonly #over = new AbortController();
  readonly #known = new Map<string, KnownCall>();

  constructor(client: Pick<GovernanceClient, "traceCall">, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  of(turnId: string, callId: string): ReadonlySignal<CallTraceState> {
    return this.#of(turnId, callId);
  }

  /** Never rejects: the problem is shown in place of the answer. */
  async ask(turnId: string, callId: string): Promise<void> {
    const state = this.#of(turnId, callId);
    if (state.peek().type === "asking") return;
    state.value = { type: "asking" };
    try {
      const call = { sessionId: this.#sessionId, turnId, callId };
      state.value = { type: "traced", trace: await traceCall(this.#client, call, { signal: this.#over.signal }) };
    } catch (error) {
      state.value = { type: "failed", problem: problemOf(error, "Look for what is left") };
    }
  }

  /** Files have changed: repeats what was answered before. */
  askAgain(): void {
    for (const { turnId, callId, state } of this.#known.values()) {
      if (state.peek().type === "traced") void this.ask(turnId, callId);
    }
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#known.clear();
  }

  #of(turnId: string, callId: string): Signal<CallTraceState> {
    const key = JSON.stringify([turnId, callId]);
    const known = this.#known.get(key);
    if (known !== undefined) return known.state;
    const state = signal<CallTraceState>({ type: "not-asked" });
    this.#known.set(key, { turnId, callId, state });
    return state;
  }
}
