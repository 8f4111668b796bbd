import { timestampDate } from "@bufbuild/protobuf/wkt";
import { turnOutcome, turnPhase } from "@gennai/client/session/turn-state";
import { emptyMeter, meterAfter, type UsageMeter } from "@gennai/client/session/usage-meter";
import type { InvokeEvent, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { PlanState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import {
  type AppliedFile,
  appliedFileFromMessage,
  type Proposal,
  proposalFromMessage,
} from "@gennai/protocol/model/session/proposal";

/** Facts about a session for the status bar, trees and commands. */
export interface SessionFacts {
  readonly usage: UsageMeter;
  readonly turn: RunningTurn | undefined;
  /** Unanswered questions by request id: what is asked, without secrets. */
  readonly questions: ReadonlyMap<string, string>;
  /** Newest last; without those that were applied or decided. */
  readonly openProposals: ReadonlyMap<string, Proposal>;
  /** The newest few, also decided ones, which a diff can still show. */
  readonly proposals: ReadonlyMap<string, Proposal>;
  readonly plan: PlanFacts | undefined;
  /** Change sets that were not taken back, newest last. */
  readonly changeSets: readonly ChangeSetFacts[];
  /** Counts changes of the todo list. */
  readonly todosVersion: number;
  /** The newest call that a rule of damage control stopped or asked about. */
  readonly violation: ViolationFacts | undefined;
  /** Prompts of the session, newest last. `time` is in milliseconds since the epoch, 0 if unknown. */
  readonly prompts: readonly { readonly text: string; readonly time: number }[];
  /** The newest final answer, by turn. */
  readonly lastAnswer: { readonly turnId: string; readonly text: string } | undefined;
}

export interface RunningTurn {
  readonly turnId: string;
  readonly doing: string;
}

export interface PlanFacts {
  readonly planId: string;
  readonly state: PlanState;
  readonly digest: string;
  readonly title: string;
}

export interface ViolationFacts {
  readonly tool: string;
  /** What was tried, in a few words. */
  readonly words: string;
  readonly rule: string;
  readonly reason: string;
  /** `file:line`; empty for a built-in rule. */
  readonly place: string;
  /** `blocked`, `asked`, `confirmed` or `refused`. */
  readonly action: string;
}

export interface ChangeSetFacts {
  readonly changeSetId: string;
  readonly time: Date | undefined;
  readonly paths: readonly string[];
  /** Each file once: from its state before the first change to its state after the last. */
  readonly files: readonly AppliedFile[];
}

export const noFacts: SessionFacts = {
  usage: emptyMeter,
  turn: undefined,
  questions: new Map(),
  openProposals: new Map(),
  proposals: new Map(),
  plan: undefined,
  changeSets: [],
  todosVersion: 0,
  violation: undefined,
  prompts: [],
  lastAnswer: undefined,
};

const keptProposals = 20;
const keptChangeSets = 50;
const keptPrompts = 20;

/** The facts after an event; the same object if it changes none. */
export function factsAfter(facts: SessionFacts, event: InvokeEvent): SessionFacts {
  const { event: body } = event;
  switch (body.case) {
    case "status":
      if (turnOutcome(event) !== undefined) return facts.turn?.turnId === event.turnId ? endTurn(facts) : facts;
      return { ...facts, turn: { turnId: event.turnId, doing: doing(body.value.state, body.value.toolName) } };
    case "usage":
      return { ...facts, usage: meterAfter(facts.usage, body.value, event.parentToolCallId) };
    case "userMessage": {
      const time = event.time === undefined ? 0 : timestampDate(event.time).getTime();
      return { ...facts, prompts: [...facts.prompts, { text: body.value.text, time }].slice(-keptPrompts) };
    }
    case "final":
      return { ...facts, lastAnswer: { turnId: event.turnId, text: body.value.text } };
    case "confirmationRequest":
      if (event.resolved) return facts;
      return withQuestion(facts, body.value.requestId, body.value.maskedStatement || body.value.title);
    case "userQuestionRequest": {
      if (event.resolved) return facts;
      const { requestId, questions } = body.value;
      return withQuestion(facts, requestId, questions[0]?.question ?? "The model asks you something.");
    }
    case "clientRequestResolved": {
      if (!facts.questions.has(body.value.requestId)) return facts;
      return { ...facts, questions: without(facts.questions, body.value.requestId) };
    }
    case "ruleViolation": {
      const { tool, words, rule, reason, place, action } = body.value;
      return { ...facts, violation: { tool, words, rule, reason, place, action } };
    }
    case "proposedChanges": {
      const proposal = proposalFromMessage(body.value);
      const openProposals = new Map(facts.openProposals).set(proposal.proposalId, proposal);
      const proposals = newest(new Map(facts.proposals).set(proposal.proposalId, proposal), keptProposals);
      return { ...facts, openProposals, proposals };
    }
    case "proposalReview":
      return facts.openProposals.has(body.value.proposalId)
        ? { ...facts, openProposals: without(facts.openProposals, body.value.proposalId) }
        : facts;
    case "changeSetApplied": {
      const { changeSetId, proposalId, files } = body.value;
      const time = event.time === undefined ? undefined : timestampDate(event.time);
      // All writes of a turn are one change set, which arrives piece by piece.
      const known = facts.changeSets.find((changeSet) => changeSet.changeSetId === changeSetId);
      const joined = joinFiles(known?.files ?? [], files.map(appliedFileFromMessage));
      const changeSet = { changeSetId, time, paths: joined.map(({ path }) => path), files: joined };
      const others = facts.changeSets.filter((each) => each !== known);
      return {
        ...facts,
        openProposals: without(facts.openProposals, proposalId),
        changeSets: [...others, changeSet].slice(-keptChangeSets),
      };
    }
    case "changeSetUndone": {
      const { changeSetId } = body.value;
      return { ...facts, changeSets: facts.changeSets.filter((changeSet) => changeSet.changeSetId !== changeSetId) };
    }
    case "planChanged": {
      const { planId, state, digest, title, stepId } = body.value;
      // An event about a step may also have the plan's state; fields that it lacks stay unchanged.
      const before = facts.plan?.planId === planId ? facts.plan : undefined;
      if (stepId !== "" && state === PlanState.UNSPECIFIED && before === undefined) return facts;
      return {
        ...facts,
        plan: {
          planId,
          state: state === PlanState.UNSPECIFIED ? (before?.state ?? state) : state,
          digest: digest || (before?.digest ?? ""),
          title: title || (before?.title ?? ""),
        },
      };
    }
    case "todosChanged":
      return { ...facts, todosVersion: facts.todosVersion + 1 };
    case "sessionCleared":
      return { ...facts, todosVersion: facts.todosVersion + 1, lastAnswer: undefined };
    default:
      return facts;
  }
}

function withQuestion(facts: SessionFacts, requestId: string, words: string): SessionFacts {
  return { ...facts, questions: new Map(facts.questions).set(requestId, words) };
}

function joinFiles(earlier: readonly AppliedFile[], later: readonly AppliedFile[]): readonly AppliedFile[] {
  const files = new Map(earlier.map((file) => [file.path, file]));
  for (const file of later) {
    const before = files.get(file.path);
    files.set(file.path, before === undefined ? file : { ...file, beforeSha256: before.beforeSha256 });
  }
  return [...files.values()];
}

function endTurn(facts: SessionFacts): SessionFacts {
  return { ...facts, turn: undefined, questions: facts.questions.size === 0 ? facts.questions : new Map() };
}

function doing(state: InvokeState, toolName: string): string {
  switch (turnPhase(state)) {
    case "thinking":
      return "thinking";
    case "running":
      return toolName === "" ? "running a tool" : `running ${toolName}`;
    case "calling":
      return toolName === "" ? "waiting for a tool" : `waiting for ${toolName}`;
    case "waiting-for-client":
      return "waiting for you";
    case "waiting-for-tree":
      return "waiting for another session";
    case "waiting-for-provider":
      return "waiting for the model's provider";
    default:
      return "working";
  }
}

function without<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

function newest<Value>(map: Map<string, Value>, most: number): Map<string, Value> {
  for (const key of map.keys()) {
    if (map.size <= most) break;
    map.delete(key);
  }
  return map;
}
