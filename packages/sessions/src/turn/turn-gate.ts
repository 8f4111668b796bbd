import { basename } from "node:path";
import type { Warning } from "@gennai/agent/events/warning";
import type { Scenario } from "@gennai/agent/scenarios/scenario";
import { canChange } from "@gennai/agent/scenarios/tool-groups";
import type { Confirmer } from "@gennai/governance/confirmation";
import type { RememberedAnswers } from "@gennai/governance/gate/confirm/remembered-answers";
import { type GovernedTools, governTools } from "@gennai/governance/gate/gate";
import { areFound, type EditingMode, needsBranch } from "@gennai/governance/policies/branch";
import type { TreeClaim } from "@gennai/governance/policies/files/single-writer";
import type { Tool } from "@gennai/governance/tool";
import type { EditingMode as ChosenMode } from "@gennai/protocol/model/session/session-settings";
import { CheckpointError } from "@gennai/store/checkpoints/checkpoint-error";
import { sessionBridge } from "../bridge/session-bridge.ts";
import { placeOfCommands } from "../client-workspace/held-by-client.ts";
import { createCheckPolicy, lastingCheckAnswers } from "../context/accept-check.ts";
import type { ProjectCheck } from "../context/detect-check.ts";
import type { LookAfterEdit } from "../context/edit-checks.ts";
import { NotedFiles } from "../context/noted-files.ts";
import type { OwnCalls } from "../context/own-calls.ts";
import { modeFor, onlyProposes, whyNotStaged } from "../policies/proposal-mode.ts";
import { loadTurnRules } from "../policies/turn-rules.ts";
import { ProposalReader } from "../proposal/proposal-reader.ts";
import { SessionProposal } from "../proposal/session-proposal.ts";
import type { TurnCheckpointsOptions } from "../restore/turn-checkpoints.ts";
import { TurnCheckpoints } from "../restore/turn-checkpoints.ts";
import type { Session } from "../session/session.ts";
import type { KnownFiles } from "../session/state/known-files.ts";
import { WorkingTreeClaim } from "../session/working-tree-claim.ts";
import { SessionJournal, type SessionJournalOptions } from "./session-journal.ts";
import { type TaskPorts, taskTools } from "./task-tools.ts";
import { TreeWait } from "./tree-wait.ts";
import { TurnBranch, type TurnBranchOptions } from "./turn-branch.ts";
import { TurnCalls } from "./turn-calls.ts";
import { TurnHooks } from "./turn-hooks.ts";
import { turnTools } from "./turn-tools.ts";

/** Maximum milliseconds for a policy. */
const policyTimeoutMs = 5_000;

/** The tools of one turn behind its gate. Disposing releases the claim to the working tree. */
export interface TurnGate extends Disposable {
  readonly tools: GovernedTools;
  /** Warnings for the user before the turn runs. */
  readonly warnings: readonly (string | Warning)[];
  readonly hooks: TurnHooks;
  /** SHA-256 of the rules in force. */
  readonly policySha256: string;
  readonly own: OwnCalls;
  /** Staged changes of its tools; undefined if they change the workspace itself, or nothing. */
  readonly proposal: SessionProposal | undefined;
  /** What to propose at the end: that, or what an operation of git's left that the user overtook. */
  toPropose(): Promise<SessionProposal | undefined>;
  /** Files that calls through this gate saw and changed. */
  readonly notes: NotedFiles;
  /** Checks files that the model's calls changed, for their results. */
  readonly afterEdit: LookAfterEdit;
  /** Prepares in the background what the first command of a workspace would wait for. Never throws. */
  warmUp(): void;
  /** Resolves when the last command's changes are kept, so that the turn may end. Never rejects. */
  settle(): Promise<void>;
}

/** Builds the tools, rules and records of one turn. Throws `ServiceError` for unreadable rules. */
export async function buildTurnGate(
  session: Session,
  scenario: Scenario,
  turn: {
    readonly turnId: string;
    readonly modelId: string;
    /** Who made the calls, where no model did. */
    readonly askedBy?: "user";
    readonly signal: AbortSignal;
    /** Nothing runs: the working tree is not claimed. */
    readonly onlyChecks?: boolean;
    /** Replaces the session's known files. */
    readonly knownFiles?: KnownFiles;
    /** What the turn's sub-agents need; without it there are none. */
    readonly subAgents?: Omit<TaskPorts, "session" | "scenario" | "tools" | "govern" | "hooks" | "named">;
    /** Replaces the session's editing mode. */
    readonly editingMode?: ChosenMode;
    /** Begins a branch at the first write; without it, nothing is written on a protected one. */
    readonly branch?: TurnBranchOptions;
    /** More tools that the server calls for the user. */
    readonly moreOwnTools?: (proposal: SessionProposal | undefined) => readonly Tool[];
    /** Replaces the session's remembered answers. */
    readonly remembered?: RememberedAnswers;
    /** Milliseconds a question waits for a client that can answer it; default: the session's setting. */
    readonly waitForClientMs?: number;
  },
): Promise<TurnGate> {
  const { services, settings, workspace, state, writer } = session;
  const { turnId, modelId, signal, onlyChecks = false, knownFiles = state.knownFiles } = turn;
  const editingMode = await modeFor(session, scenario, turn.editingMode ?? settings.editingMode);
  const proposal = editingMode === "staged-proposal" ? await SessionProposal.of(session) : undefined;
  await proposal?.renew();
  await workspace.syncControl({ workedOn: state.knownFiles.paths, signal });
  const shownAs = {
    workspace: basename(workspace.root),
    tell: (text: string) => writer.emit({ type: "warning", text }, { turnId }),
  };
  const editor = sessionBridge({
    clients: session.clients,
    requests: session.requests,
    turnId: () => turnId,
    settings: () => settings,
    answerMs: services.confirmation.answerMs,
    waitForClientMs: turn.waitForClientMs,
    onQuestion: (kind, message) => rules.hooks.notify(kind, message, signal),
    elsewhere: services.elsewhere && { people: services.elsewhere, ...shownAs },
    second: services.secondPerson && { people: services.secondPerson, user: session.user, ...shownAs },
  });
  const tree = new WorkingTreeClaim(services.locks, workspace.place, session.id);
  // A mere check must not block other work.
  const claimTree = (): TreeClaim | Promise<TreeClaim> => {
    // Staged changes do not block other work either.
    if (proposal !== undefined) return { type: "ours" };
    return onlyChecks ? tree.look() : tree.claim();
  };
  const treeWait = new TreeWait(tree, {
    limitMs: services.admission.treeWaitMs,
    emit: (event) => writer.emit(event, { turnId }),
  });
  const branch =
    turn.branch === undefined || editingMode !== "branch"
      ? undefined
      : await TurnBranch.of(session, turn.branch, signal);
  const rules = await loadTurnRules(session, { editingMode, claimTree, branchOffer: branch?.offer, signal });
  const repositoryChecks = new Map<string, ProjectCheck>();
  const isOpen = (): boolean => services.stages?.open.of(session.id) !== undefined;
  const over = new AbortController();
  const { tools, ownTools, offered, subAgents, warnings } = await turnTools(session, scenario, {
    editor,
    rules,
    editingMode,
    knownFiles,
    proposal,
    onlyChecks,
    signal,
    over: over.signal,
  });
  for (const tool of turn.moreOwnTools?.(proposal) ?? []) ownTools.set(tool.name, tool);

  const kept = workspace.client === undefined ? services.checkpointsOf(workspace) : undefined;
  const checkpoints = new TurnCheckpoints({
    checkpoints: kept ?? noCheckpoints,
    sessionId: session.id,
    beforeWrite: async (effects, stop) => {
      const isApart = isOpen() && !areFound(effects);
      const begun = branch !== undefined && !isApart && needsBranch(effects) ? await branch.begin(stop) : undefined;
      if (begun !== undefined) writer.emit(begun, { turnId });
    },
    emit: (event, ofTurn) => writer.emit(event, { turnId: ofTurn }),
    commit: (event, ofTurn) => writer.commit([event], { turnId: ofTurn, durable: true }),
  });
  const warmUp = (): void => {
    if (onlyChecks || editingMode === "proposal" || !tools.has("Bash")) return;
    const { stages } = services;
    if (workspace.client !== undefined) return;
    // Only what is not staged needs trees.
    if (stages === undefined) {
      if (proposal === undefined) kept?.warmUp();
    } else {
      const place = { stages, workspaceRoot: workspace.root };
      stages.warmUp(workspace.root, rules.zeroAccess, () => session.background.openNetwork(place));
    }
  };

  const notes = new NotedFiles();
  const afterEdit: LookAfterEdit = {};
  const { background } = session;
  const surroundings = { workspace, repositoryChecks, checkpoints, background, afterEdit, isOpen };
  const policies = [
    ...rules.policies,
    ...(proposal === undefined ? [checkpoints.policy] : []),
    createCheckPolicy(repositoryChecks),
  ];
  const policySha256 = rules.digest(policies);
  const govern = (
    some: ReadonlyMap<string, Tool>,
    calls: Pick<SessionJournalOptions, "writer" | "parentToolCallId" | "forUser"> = { writer },
    confirmer: Confirmer = editor,
  ): GovernedTools => {
    const isMain = calls.parentToolCallId === undefined && calls.forUser !== true;
    const reader = proposal && (isMain ? proposal.reader : new ProposalReader(proposal.tree));
    const journal = new SessionJournal(session, {
      ...calls,
      modelId,
      askedBy: turn.askedBy,
      governance: rules.governance,
      notes,
    });
    const governed: GovernedTools = governTools({
      lasting:
        calls.forUser === true ? lastingCheckAnswers(repositoryChecks, services.acceptedChecks(workspace)) : undefined,
      connections: services.acceptedConnections(workspace),
      longestYes: rules.longestYes,
      sessionId: session.id,
      tools: some,
      runner: new TurnCalls(surroundings, {
        by: calls.forUser === true ? "server" : isMain ? "model" : "sub-agent",
        staged: proposal && reader && { proposal, reader },
        behind: () => behind(),
        record: journal.changed.bind(journal),
      }),
      policies,
      confirmer: branch?.asking(confirmer) ?? confirmer,
      journal: rules.hooks.journal(journal, calls.writer, signal),
      standingCheck: services.emergency.standingCheck,
      running: session.runningCalls,
      observer: services.observer.gate,
      redactor: services.redactor,
      remembered: turn.remembered ?? session.remembered,
      policySha256,
      intent: () => state.activeIntent,
      isolation: placeOfCommands(session).isolation,
      waitForTree: onlyChecks ? undefined : (stop) => treeWait.wait(stop),
      policyTimeoutMs,
      now: services.now,
    });
    /** Tools for the calls that follow a command: without results in the conversation, recorded under the same agent. */
    const behind = (): GovernedTools => {
      if (calls.forUser === true) return governed;
      return isMain ? own : govern(ownTools, { ...calls, forUser: true });
    };
    return governed;
  };
  const own = govern(ownTools, { writer, forUser: true });
  const hooks = new TurnHooks(session, rules.hooks, signal);
  if (turn.subAgents !== undefined) {
    const ports = { ...turn.subAgents, session, scenario, tools: () => tools, govern, hooks, named: subAgents };
    for (const tool of taskTools(ports)) {
      if (offered.has(tool.name)) tools.set(tool.name, tool);
    }
  }

  return {
    policySha256,
    hooks,
    tools: govern(tools),
    own: {
      tools: own,
      unasked: govern(ownTools, { writer, forUser: true }, { ask: async () => ({ type: "nobody" }) }),
      editor,
      repositoryChecks,
      configuredCheck: rules.config.check,
      runsCommands: offered.has("Bash"),
    },
    proposal,
    toPropose: async () => (editingMode === "branch" ? SessionProposal.of(session) : proposal),
    notes,
    afterEdit,
    warnings: [
      // Warnings are given once, so a mere check must not use them up.
      ...(onlyChecks ? [] : await proposalWarnings(session, { scenario, editingMode, proposal })),
      ...rules.hooks.warnings,
      ...warnings,
      ...rules.warnings,
    ],
    warmUp,
    settle: () => {
      over.abort();
      return checkpoints.settle();
    },
    [Symbol.dispose]: () => {
      over.abort();
      tree[Symbol.dispose]();
    },
  };
}

/** Sessions whose user was told that nothing can be staged. */
const told = new WeakSet<Session>();

async function proposalWarnings(
  session: Session,
  {
    scenario,
    editingMode,
    proposal,
  }: { readonly scenario: Scenario; readonly editingMode: EditingMode; readonly proposal: SessionProposal | undefined },
): Promise<readonly string[]> {
  const loss = proposal?.takeLoss();
  if (loss !== undefined) return [loss];
  if (editingMode !== "proposal" || !canChange(scenario.tools) || told.has(session)) return [];
  told.add(session);
  const why = await whyNotStaged(session);
  return why === undefined ? [] : [onlyProposes(why)];
}

/**
 * Replaces checkpoints if a client holds the files: git on the server's disk would keep the trees, but the files are not there.
 * The client's own git must undo what commands change; change sets keep their bytes as always.
 */
const noCheckpoints: TurnCheckpointsOptions["checkpoints"] = {
  problem: undefined,
  open: async () => {
    throw new CheckpointError("git_missing", "the client that holds the files keeps no trees of them.");
  },
  close: async () => [],
};
