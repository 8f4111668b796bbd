import { Conversation } from "@gennai/agent/conversation/conversation";
import type { ClientRequest } from "@gennai/agent/events/client-request";
import type { DirectoryChangeRecord, FileChangeRecord, ProposalReview } from "@gennai/agent/events/proposal";
import { endStates, type LoggedEvent, type SessionEvent, type TurnState } from "@gennai/agent/events/session-event";
import type { WorkspaceOperation } from "@gennai/agent/events/workspace-operation";
import { addUsage, addUsageSum, noUsage, type UsageSum } from "@gennai/agent/usage";
import { applyPlanChange, IllegalPlanChange, type PlanRecord } from "@gennai/governance/plan-record";
import { branchRule } from "@gennai/governance/policies/branch";
import type { RefMove } from "@gennai/governance/tool";
import { firstParagraph } from "@gennai/protocol/branch-name";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/session/client-workspace";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import type { QueuedMessage } from "@gennai/protocol/model/session/queued-message";
import { type SessionSettings, settingsFromLog } from "@gennai/protocol/model/session/session-settings";
import type { Todo } from "@gennai/protocol/model/session/todo";
import { keptOutputKey } from "./kept-output-name.ts";
import { KnownFiles } from "./known-files.ts";
import { WorkSteps } from "./work-steps.ts";

export interface TurnRecord {
  readonly turnId: string;
  readonly clientTurnId: string;
  /** Sequence number before the turn's first event. */
  readonly afterSeq: number;
  state: TurnState;
  /** A copy in a fork: its calls may have run in the source since, so it cannot be continued. */
  readonly copied?: true;
  /** Undefined for a turn without a prompt, e.g. the run of a plan. */
  readonly prompt?: { readonly scenario: string; readonly enableThinking: boolean };
  /** For an interrupted turn: what the user is told. */
  cutOff?: CutOff;
  /** Sequence number of the event that ended it. */
  endSeq?: number;
}

export interface CutOff {
  readonly message: string;
  /** It waited for a user. */
  readonly waited: boolean;
}

export interface ChangeSet {
  readonly changeSetId: string;
  /** In the order of the changes. */
  readonly files: FileChangeRecord[];
  readonly directories: DirectoryChangeRecord[];
  readonly refs: RefMove[];
  /** The proposal of which this was kept, if it was one. */
  readonly proposalId: string | undefined;
  undone: boolean;
}

/** Error code of a turn that was interrupted while it waited for a user. */
export const waitedForAnswer = "interrupted_waiting";

/** A session's state, without its log: a fold over it, built again whenever the session is opened. */
export class SessionState {
  readonly conversation = new Conversation();
  readonly knownFiles = new KnownFiles();
  readonly work = new WorkSteps();
  readonly turns = new Map<string, TurnRecord>();
  readonly turnByClientId = new Map<string, TurnRecord>();
  readonly changeSets = new Map<string, ChangeSet>();
  /** The last answer in the session, and its model. */
  lastAnswer: { readonly text: string; readonly modelId: string } | undefined;
  /** By call: changes of calls that have no result yet. */
  readonly changesUnderWay = new Map<string, readonly FileChangeRecord[]>();
  /** Paths changed since the last turn began, and not taken back; without what a person kept of a proposal. */
  readonly #changed = new Set<string>();
  /** Calls without a result, including sub-agents'. */
  readonly #callsUnderWay = new Set<string>();
  readonly proposals = new Map<string, Proposal>();
  /** By id, oldest first. */
  readonly plans = new Map<string, PlanRecord>();
  readonly appliedProposals = new Set<string>();
  /** Those of which what was kept was undone. */
  readonly undoneProposals = new Set<string>();
  /** As in the log: masked. */
  readonly reviewedProposals = new Map<string, ProposalReview>();
  /** Unanswered requests. */
  readonly openRequests = new Map<string, ClientRequest>();
  /** Closed requests, so that a late or second answer can be distinguished from an unknown one. */
  readonly resolvedRequests = new Map<string, "answered" | "timeout" | "cancelled">();
  /** Messages to a running turn that no model got yet, in order. By id. */
  readonly queuedMessages = new Map<string, QueuedMessage>();
  /** Ids of all such messages ever, with their turn. */
  readonly messageTurns = new Map<string, string>();
  /** Number of background runs ever started. */
  backgroundRuns = 0;
  /** Results too long for the model, by the beginning of their digest. */
  readonly keptOutputs = new Map<string, string>();
  /** Digests of blobs that the session's events refer to. */
  readonly blobs = new Set<string>();
  /** Digests of files before and after changes. Their contents may contain secrets: `SeenContents` decides what users see. */
  readonly fileContents = new Set<string>();
  /** Set when a client holds the files. */
  clientWorkspace: ClientWorkspaceFacts | undefined;
  settings: SessionSettings | undefined;
  /** A person wants no branch on which something is written, until they change the settings, e.g. by `/branch`. */
  onlyLooks = false;
  /** The session's intent as it was selected; its file has the current definition. */
  activeIntent: { readonly id: string; readonly name: string } | undefined;
  todos: readonly Todo[] = [];
  title = "";
  /** Use of all model calls of this session, including sub-agents and compactions; without the session it was forked from. */
  usage: UsageSum = noUsage;
  /** Start of the session, or of the one it was forked from. Milliseconds since the epoch. */
  began = 0;
  lastSeq = 0;

  /** Id of the plan step that this turn carries out now. */
  planStepOf(turnId: string): string | undefined {
    for (const plan of this.plans.values()) {
      if (plan.runTurnId !== turnId) continue;
      return plan.steps.find(({ state }) => state === "running")?.stepId;
    }
    return undefined;
  }

  /** Number of files that a person has to look at: changed since the last turn began, or proposed and not decided about. */
  get unseenFiles(): number {
    const paths = new Set(this.#changed);
    // A newer one that was decided about settles those before it.
    for (const { proposalId, changes } of [...this.proposals.values()].reverse()) {
      if (this.reviewedProposals.has(proposalId) || this.appliedProposals.has(proposalId)) break;
      for (const { path } of changes) paths.add(path);
    }
    return paths.size;
  }

  get activeIntentId(): string | undefined {
    return this.activeIntent?.id;
  }

  /** The turn that has not ended, if any. */
  get openTurn(): TurnRecord | undefined {
    for (const turn of [...this.turns.values()].reverse()) if (!endStates.has(turn.state)) return turn;
    return undefined;
  }

  /** The last turn, if it was interrupted and can be continued. */
  get continuableTurn(): (TurnRecord & Required<Pick<TurnRecord, "prompt" | "cutOff">>) | undefined {
    const turn = [...this.turns.values()].at(-1);
    if (turn?.prompt === undefined || turn.cutOff === undefined || turn.state !== "interrupted") return undefined;
    if (turn.copied === true) return undefined;
    return { ...turn, prompt: turn.prompt, cutOff: turn.cutOff };
  }

  apply(logged: LoggedEvent): void {
    this.conversation.apply(logged);
    this.work.apply(logged);
    this.lastSeq = logged.seq;
    const { event } = logged;
    switch (event.type) {
      case "session-started":
      case "settings-changed":
        if (event.type === "session-started" && this.began === 0) this.began = logged.time;
        if (event.type === "session-started") this.clientWorkspace = event.clientWorkspace;
        this.settings = settingsFromLog(event.settings);
        this.onlyLooks = false;
        break;
      case "session-cleared":
        for (const turn of this.turns.values()) delete turn.cutOff;
        this.todos = [];
        this.activeIntent = undefined;
        this.knownFiles.clear();
        break;
      case "status":
        this.#applyStatus(logged, event);
        break;
      case "message-queued": {
        const { messageId, text, images } = event;
        this.queuedMessages.set(messageId, { messageId, turnId: logged.turnId, text, images });
        this.messageTurns.set(messageId, logged.turnId);
        for (const image of images) this.blobs.add(image.sha256);
        break;
      }
      case "message-withdrawn":
        this.queuedMessages.delete(event.messageId);
        break;
      case "user-message": {
        if (event.messageId !== undefined) {
          this.queuedMessages.delete(event.messageId);
          break;
        }
        this.#nameTurn(logged.turnId, event);
        if (this.title === "") this.title = firstParagraph(event.text).replaceAll(/\s+/g, " ").slice(0, 80);
        for (const image of event.images) this.blobs.add(image.sha256);
        break;
      }
      case "turn-continued":
        this.#nameTurn(logged.turnId, event);
        break;
      case "error": {
        const turn = this.turns.get(logged.turnId);
        const waited = event.code === waitedForAnswer;
        if (turn !== undefined && event.canContinue === true) turn.cutOff = { message: event.message, waited };
        break;
      }
      case "final":
        // A turn without a model ends with text from the server.
        if (event.modelId !== "" && event.parentToolCallId === undefined) {
          this.lastAnswer = { text: event.text, modelId: event.modelId };
        }
        break;
      case "usage":
        this.usage = addUsage(this.usage, event);
        break;
      case "attempts-changed":
        if (event.used !== undefined) this.usage = addUsageSum(this.usage, event.used);
        break;
      case "background-run":
        if (event.what === "started") this.backgroundRuns += 1;
        break;
      case "session-renamed":
        this.title = event.title;
        break;
      case "context-added":
        for (const image of event.images ?? []) this.blobs.add(image.sha256);
        for (const file of event.observed) this.knownFiles.observe(file);
        break;
      case "tool-call":
        this.#callsUnderWay.add(event.id);
        break;
      case "tool-result":
        this.#callsUnderWay.delete(event.id);
        this.changesUnderWay.delete(event.id);
        for (const file of event.observed) this.knownFiles.observe(file);
        if (event.outputBlob !== undefined) this.blobs.add(event.outputBlob.sha256);
        for (const image of event.images ?? []) this.blobs.add(image.sha256);
        if (event.wholeOutput !== undefined) {
          this.blobs.add(event.wholeOutput.sha256);
          this.keptOutputs.set(keptOutputKey(event.wholeOutput.sha256), event.wholeOutput.sha256);
        }
        break;
      case "client-request":
        this.openRequests.set(event.request.requestId, event.request);
        if (event.request.kind === "workspace") this.#addContents(event.request.operation);
        break;
      case "client-request-waits": {
        const request = this.openRequests.get(event.requestId);
        if (request !== undefined) this.openRequests.set(event.requestId, { ...request, deadline: 0 });
        break;
      }
      case "client-request-resolved":
        if (event.reply !== undefined && asksForBranch(this.openRequests.get(event.requestId)))
          this.onlyLooks = event.reply.answer === "no";
        this.openRequests.delete(event.requestId);
        this.resolvedRequests.set(event.requestId, event.resolution);
        break;
      case "todos-changed":
        this.todos = event.items;
        break;
      case "intent-selected":
        this.activeIntent = event.intent;
        break;
      case "plan-changed":
        this.#applyPlanChange(logged.time, event);
        break;
      case "proposed-changes":
        this.proposals.set(event.proposal.proposalId, event.proposal);
        for (const change of event.proposal.changes) {
          if (change.baseBlob !== undefined) this.blobs.add(change.baseBlob.sha256);
          if (change.newContentBlob !== undefined) this.blobs.add(change.newContentBlob.sha256);
        }
        break;
      case "proposal-review":
        this.reviewedProposals.set(event.review.proposalId, event.review);
        this.#forgetRefused(event.review);
        break;
      case "change-set-applied":
        this.#applyChangeSet(event);
        if (event.toolCallId !== undefined && this.#callsUnderWay.has(event.toolCallId)) {
          this.changesUnderWay.set(event.toolCallId, event.files);
        }
        if (event.proposalId !== undefined) this.appliedProposals.add(event.proposalId);
        else for (const { path } of event.files) this.#changed.add(path);
        break;
      case "checkpoint-restored":
        this.#tookBack(event.files);
        break;
      case "change-set-undone": {
        const changeSet = this.changeSets.get(event.changeSetId);
        if (changeSet !== undefined) changeSet.undone = true;
        if (changeSet?.proposalId !== undefined) this.undoneProposals.add(changeSet.proposalId);
        this.#tookBack(event.files);
        break;
      }
      default:
        break;
    }
  }

  #nameTurn(
    turnId: string,
    {
      clientTurnId,
      scenario,
      enableThinking,
      isCommand = false,
    }: Pick<TurnRecord, "clientTurnId"> & NonNullable<TurnRecord["prompt"]> & { readonly isCommand?: boolean },
  ): void {
    const turn = this.turns.get(turnId);
    if (turn === undefined) return;
    // A command that a person ran has nothing that a model could go on with.
    const named: TurnRecord = { ...turn, clientTurnId, ...(isCommand ? {} : { prompt: { scenario, enableThinking } }) };
    this.turns.set(turnId, named);
    this.turnByClientId.set(clientTurnId, named);
  }

  /** Contents for the client to fetch and write. */
  #addContents(operation: WorkspaceOperation): void {
    if (operation.type !== "change") return;
    for (const { contentSha256 } of operation.changes) if (contentSha256 !== "") this.blobs.add(contentSha256);
  }

  #applyStatus(logged: LoggedEvent, { state, copied }: Extract<SessionEvent, { readonly type: "status" }>): void {
    const turn = this.turns.get(logged.turnId);
    if (turn !== undefined) {
      turn.state = state;
      if (endStates.has(state)) {
        turn.endSeq = logged.seq;
        this.#callsUnderWay.clear();
        this.changesUnderWay.clear();
      }
    } else if (state === "started") {
      const { turnId } = logged;
      this.#changed.clear();
      const begun: TurnRecord = { turnId, clientTurnId: "", afterSeq: logged.seq - 1, state };
      this.turns.set(turnId, copied === undefined ? begun : { ...begun, copied });
    }
  }

  #applyPlanChange(time: number, event: Extract<LoggedEvent["event"], { readonly type: "plan-changed" }>): void {
    const { planId, change } = event;
    try {
      this.plans.set(planId, applyPlanChange(this.plans.get(planId), planId, change, time));
      if (change.type === "submitted") this.blobs.add(change.digest);
    } catch (error) {
      // Changes are checked before they are added. One that still does not fit is ignored, and must not break the session.
      if (!(error instanceof IllegalPlanChange)) throw error;
    }
  }

  #tookBack(files: Iterable<{ readonly path: string }>): void {
    for (const { path } of files) {
      this.knownFiles.observe({ path, source: "disk", sha256: undefined });
      this.#changed.delete(path);
    }
  }

  /** A refused new file does not exist: the model may create it again. */
  #forgetRefused({ proposalId, hunks }: ProposalReview): void {
    const isKept = (changeId: string): boolean =>
      hunks.some((hunk) => hunk.changeId === changeId && hunk.decision !== "undo");
    for (const { id, path, operation } of this.proposals.get(proposalId)?.changes ?? []) {
      if (operation !== "create" || isKept(id)) continue;
      this.knownFiles.observe({ path, source: "disk", sha256: undefined });
    }
  }

  /** Whether a call has no result yet. */
  isUnderWay(callId: string): boolean {
    return this.#callsUnderWay.has(callId);
  }

  #applyChangeSet({
    changeSetId,
    files,
    directories = [],
    refs = [],
    proposalId,
  }: Extract<SessionEvent, { readonly type: "change-set-applied" }>): void {
    const known = this.changeSets.get(changeSetId) ?? {
      changeSetId,
      files: [],
      directories: [],
      refs: [],
      proposalId,
      undone: false,
    };
    this.changeSets.set(changeSetId, known);
    known.files.push(...files);
    known.directories.push(...directories);
    known.refs.push(...refs);
    for (const { beforeSha256, afterSha256 } of files) {
      if (beforeSha256 !== undefined) this.fileContents.add(beforeSha256);
      if (afterSha256 !== undefined) this.fileContents.add(afterSha256);
    }
  }
}

function asksForBranch(request: ClientRequest | undefined): boolean {
  return request?.kind === "confirmation" && request.question.computed.rule === branchRule;
}
