import { SessionPlans } from "@gennai/client/plan/session-plans";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { computed } from "@preact/signals";
import { AttemptsDesk } from "../attempts/attempts-desk.ts";
import { BackgroundDesk } from "../background/background-desk.ts";
import { CallTraces } from "../changes/call-traces.ts";
import { ChangeContents } from "../changes/change-contents.ts";
import { CheckpointDesk } from "../checkpoints/checkpoint-desk.ts";
import { GovernanceDesk } from "../governance/governance-desk.ts";
import { RulesDesk } from "../governance/rules-desk.ts";
import { PlanDesk } from "../plan/plan-desk.ts";
import { writePlan } from "../plan/write-plan.ts";
import { TimelineDesk } from "../timeline/timeline-desk.ts";
import { TodoDesk } from "../todos/todo-desk.ts";
import type { FollowedSession } from "./followed-session.ts";
import type { ReplControl } from "./repl-control.ts";

/** What the panels about a session work with, as long as it is shown. */
export class SessionDesks implements Disposable {
  readonly governance: GovernanceDesk;
  readonly rules: RulesDesk;
  readonly timeline: TimelineDesk;
  /** undefined while there is no session. */
  readonly plan: PlanDesk | undefined;
  readonly todos: TodoDesk | undefined;
  readonly checkpoints: CheckpointDesk | undefined;
  readonly background: BackgroundDesk | undefined;
  readonly attempts: AttemptsDesk | undefined;
  readonly changes: ChangeContents | undefined;
  readonly traces: CallTraces | undefined;

  constructor(control: ReplControl, followed: FollowedSession | undefined) {
    const { agent, governance, plans, home } = control;
    const sessionId = followed?.session.sessionId ?? "";
    this.governance = new GovernanceDesk({ client: governance, sessionId, by: home.launch.clientName });
    this.rules = new RulesDesk({ client: governance, sessionId });
    this.timeline = new TimelineDesk({
      client: governance,
      sessionId,
      blob: async (ofSession, sha256, options) =>
        (await agent.getBlob({ sessionId: ofSession, sha256 }, options)).content,
    });
    if (followed === undefined) return;
    const { session } = followed;
    this.plan = new PlanDesk({
      plans: new SessionPlans(plans, sessionId),
      write: (request, options) =>
        writePlan({ client: agent, sessionId, identity: session.identity }, request, options),
      undo: (changeSetId, { signal }) => session.undo({ changeSetId, signal }),
    });
    const todos = computed(() => followed.view.value.facts.value.todos);
    this.todos = new TodoDesk({ client: agent, sessionId, todos });
    this.background = new BackgroundDesk({ client: agent, sessionId });
    this.attempts = new AttemptsDesk({ session, questions: control.attempts.questions });
    this.checkpoints = new CheckpointDesk({ client: agent, sessionId });
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
    if (changed && this.checkpoints?.view.peek().list !== undefined) void this.checkpoints.load();
    if (ended && this.timeline.view.peek().loaded && !this.timeline.view.peek().busy) void this.timeline.load();
  }

  [Symbol.dispose](): void {
    for (const desk of [
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
      desk?.[Symbol.dispose]();
  }
}

const governing: ReadonlySet<string> = new Set(["emergencyChanged", "rulesChanged", "intentSelected", "ruleViolation"]);
