import type { Scenario } from "@gennai/agent/scenarios/scenario";
import { type GovernedTools, governTools } from "@gennai/governance/gate/gate";
import type { RememberedAnswers } from "@gennai/governance/gate/remembered-answers";
import { withPostToolHooks } from "@gennai/governance/hooks/hooks-journal";
import type { Tool } from "@gennai/governance/tool";
import type { EditingMode } from "@gennai/protocol/model/session-settings";
import { sessionBridge } from "../bridge/session-bridge.ts";
import { TurnCheckpoints } from "../checkpoints/turn-checkpoints.ts";
import { noCheckpoints } from "../client-workspace/no-checkpoints.ts";
import { placeOfCommands } from "../client-workspace/place-of-commands.ts";
import { createCheckPolicy, lastingCheckAnswers } from "../context/accept-check.ts";
import type { ProjectCheck } from "../context/detect-check.ts";
import { NotedFiles } from "../context/noted-files.ts";
import type { OwnCalls } from "../context/own-calls.ts";
import { loadTurnRules } from "../policies/turn-rules.ts";
import type { KnownFiles } from "../session/known-files.ts";
import type { Session } from "../session/session.ts";
import { TreeClaimant } from "../session/tree-claimant.ts";
import { SessionJournal, type SessionJournalOptions } from "./session-journal.ts";
import { type TaskPorts, taskTools } from "./sub-agents/task-tools.ts";
import { TreeWait } from "./tree-wait.ts";
import { turnTools } from "./turn-tools.ts";

/** Milliseconds a policy may take. */
const policyTimeoutMs = 5_000;

/** The tools of one turn behind its gate. Disposing gives up the claim to the working tree. */
export interface TurnGate extends Disposable {
  readonly tools: GovernedTools;
  /** What the user should know before the turn runs. */
  readonly warnings: readonly string[];
  /** SHA-256 of the rules in force. */
  readonly policySha256: string;
  readonly own: OwnCalls;
  /** Files that calls through this gate saw and changed. */
  readonly notes: NotedFiles;
  /** Resolves when what its last command changed is kept, so that the turn may end. Never rejects. */
  settle(): Promise<void>;
}

/** Builds the tools, rules and records of one turn. Throws `ServiceError` for rules that cannot be read. */
export async function buildTurnGate(
  session: Session,
  scenario: Scenario,
  turn: {
    readonly turnId: string;
    readonly modelId: string;
    readonly signal: AbortSignal;
    /** Nothing runs: the working tree is not claimed. */
    readonly onlyChecks?: boolean;
    /** In place of what the session last saw of files. */
    readonly knownFiles?: KnownFiles;
    /** What sub-agents of the turn work with; without it there are none. */
    readonly subAgents?: Omit<TaskPorts, "session" | "scenario" | "tools" | "govern">;
    /** In place of the session's own. */
    readonly editingMode?: EditingMode;
    /** In place of the session's remembered answers. */
    readonly remembered?: RememberedAnswers;
    /** Milliseconds a question waits for a client that can answer it; the session's setting when left out. */
    readonly waitForClientMs?: number;
  },
): Promise<TurnGate> {
  const { services, settings, workspace, state, writer } = session;
  const { turnId, modelId, signal, onlyChecks = false, knownFiles = state.knownFiles } = turn;
  const { editingMode = settings.editingMode } = turn;
  await workspace.syncControl({ workedOn: state.knownFiles.paths, signal });
  const editor = sessionBridge({
    clients: session.clients,
    requests: session.requests,
    turnId: () => turnId,
    interactive: () => settings.interactive,
    waitForClientMs: turn.waitForClientMs,
  });
  const tree = new TreeClaimant(services.locks, workspace.place, session.id);
  // Whoever only asks what would be decided stands in nobody's way.
  const claimTree = () => (onlyChecks ? tree.look() : tree.claim());
  const treeWait = new TreeWait(tree, {
    limitMs: services.admission.treeWaitMs,
    emit: (event) => writer.emit(event, { turnId }),
  });
  const rules = await loadTurnRules(session, { editingMode, claimTree, signal });
  const repositoryChecks = new Map<string, ProjectCheck>();
  const { tools, ownTools, offered, warnings } = await turnTools(session, scenario, {
    editor,
    rules,
    editingMode,
    knownFiles,
    repositoryChecks,
    onlyChecks,
    signal,
  });

  const kept = workspace.client === undefined ? services.checkpointsOf(workspace) : undefined;
  const checkpoints = new TurnCheckpoints({
    checkpoints: kept ?? noCheckpoints,
    sessionId: session.id,
    emit: (event, ofTurn) => writer.emit(event, { turnId: ofTurn }),
  });
  for (const some of [tools, ownTools]) for (const [name, tool] of some) some.set(name, checkpoints.guard(tool));
  if (!onlyChecks && editingMode === "branch" && tools.has("Bash")) {
    kept?.warmUp();
    if (workspace.client === undefined) services.stages?.warmUp(workspace.root, rules.zeroAccess);
  }

  const notes = new NotedFiles();
  const policies = [...rules.policies, checkpoints.policy, createCheckPolicy(repositoryChecks)];
  const policySha256 = rules.digest(policies);
  const govern = (
    governed: ReadonlyMap<string, Tool>,
    calls: Pick<SessionJournalOptions, "writer" | "parentToolCallId" | "forUser"> = { writer },
  ): GovernedTools =>
    governTools({
      lasting:
        calls.forUser === true ? lastingCheckAnswers(repositoryChecks, services.acceptedChecks(workspace)) : undefined,
      sessionId: session.id,
      tools: governed,
      policies,
      confirmer: editor,
      journal: withPostToolHooks(
        new SessionJournal(session, { ...calls, modelId, governance: rules.governance, notes }),
        rules.hooks.commands,
        { runner: rules.hooks.runner, cwd: workspace.controlRoot, sessionId: session.id, signal },
      ),
      standingCheck: services.emergency.standingCheck,
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
  if (turn.subAgents !== undefined) {
    for (const tool of taskTools({ ...turn.subAgents, session, scenario, tools: () => tools, govern })) {
      if (offered.has(tool.name)) tools.set(tool.name, tool);
    }
  }

  return {
    policySha256,
    tools: govern(tools),
    own: {
      tools: govern(ownTools, { writer, forUser: true }),
      editor,
      repositoryChecks,
      configuredCheck: rules.config.check,
      runsCommands: offered.has("Bash"),
    },
    notes,
    warnings: [...rules.hookWarnings, ...warnings, ...rules.warnings],
    settle: () => checkpoints.settle(),
    [Symbol.dispose]: () => {
      tree[Symbol.dispose]();
    },
  };
}
