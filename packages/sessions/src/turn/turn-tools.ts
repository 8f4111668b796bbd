import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { Warning } from "@gennai/agent/events/warning";
import type { Scenario } from "@gennai/agent/scenarios/scenario";
import { canChange, toolsInMode } from "@gennai/agent/scenarios/tool-groups";
import type { EditingMode } from "@gennai/governance/policies/branch";
import type { Tool } from "@gennai/governance/tool";
import { webFetchTool } from "@gennai/machine/web/web-fetch-tool";
import { webSearchTool } from "@gennai/machine/web/web-search-tool";
import type { ClientSide } from "@gennai/machine/workspace/workspace";
import { OpenWorkspace } from "@gennai/shell/open-workspace";
import type { EditorBridge, SessionBridge } from "../bridge/session-bridge.ts";
import { createMayRead } from "../context/may-read.ts";
import { loadToolsTool } from "../mcp/load-tools-tool.ts";
import type { OfferedTools } from "../mcp/mcp-servers.ts";
import { askedUntil } from "../mcp/task-in-background.ts";
import type { TurnRules } from "../policies/turn-rules.ts";
import { loadSkills, loadSubAgents, type SubAgentFile } from "../prompt/load-skills.ts";
import { proposeStagedTool } from "../proposal/propose-staged-tool.ts";
import { SessionProposal } from "../proposal/session-proposal.ts";
import { stageProposedChanges } from "../proposal/stage-proposed-changes.ts";
import type { Session } from "../session/session.ts";
import type { KnownFiles } from "../session/state/known-files.ts";
import { isOwnBranch, isOwnStash, isOwnTip } from "../session/state/own-refs.ts";
import { bashOutputTool, killShellTool, stateOf } from "../tools/commands/background-tools.ts";
import type { Staging } from "../tools/commands/bash-tool.ts";
import { problemsTool, symbolsTool } from "../tools/reading/editor-tools.ts";
import { skillTool } from "../tools/reading/skill-tool.ts";
import { askUserTool } from "../tools/session/ask-user-tool.ts";
import { createTools } from "./tool-set.ts";

/** The tools of one turn, not yet behind a gate. */
export interface TurnTools {
  /** Tools that the model may call, by name. */
  readonly tools: Map<string, Tool>;
  /** Tools that the server calls for the user, in every scenario. */
  readonly ownTools: Map<string, Tool>;
  /** Names that the scenario and the editing mode permit, even if no such tool exists. */
  readonly offered: ReadonlySet<string>;
  /** Sub-agents of the user's and the repository's files, by name. */
  readonly subAgents: ReadonlyMap<string, SubAgentFile>;
  readonly warnings: readonly (string | Warning)[];
}

const ownToolNames: ReadonlySet<string> = new Set(["Read", "Glob", "Bash", "Problems"]);
const noTools: OfferedTools = { tools: [], warnings: [] };

/** The tools of a turn with this scenario: the server's, those that need its editor, skills, and external ones. */
export async function turnTools(
  session: Session,
  scenario: Scenario,
  turn: {
    readonly editor: SessionBridge;
    readonly rules: TurnRules;
    readonly editingMode: EditingMode;
    readonly knownFiles: KnownFiles;
    /** Staged changes, in place of the workspace. */
    readonly proposal: SessionProposal | undefined;
    /** Nothing runs, so external servers are not started. */
    readonly onlyChecks: boolean;
    readonly signal: AbortSignal;
    /** From then on nobody is asked for what still runs. */
    readonly over: AbortSignal;
  },
): Promise<TurnTools> {
  const { services, workspace, state, background } = session;
  const { editor, rules, editingMode, proposal, signal } = turn;
  const { client } = workspace;
  const { stages } = services;
  const place = { zeroAccess: rules.zeroAccess, workspaceRoot: workspace.root, session: session.id };
  const isOpen = (): boolean => client === undefined && stages?.open.of(session.id) !== undefined;
  const own =
    client !== undefined || stages === undefined ? workspace : new OpenWorkspace(workspace, { ...place, stages });
  const terminal = state.conversation.partTold("terminal");
  const tools = createTools({
    workspace: proposal?.workspace ?? own,
    editor: withoutBuffers(editor, () => proposal !== undefined || isOpen()),
    blobs: services.blobs,
    knownFiles: turn.knownFiles,
    seen: session.seen,
    outputs: { text: (name) => keptOutputText(session, name) },
    todos: { read: () => state.todos },
    intents: rules.governance.intents,
    activeIntent: () => state.activeIntentId,
    home: client?.home ?? services.home,
    // As the conversation began: what a provider has in its cache stays the same.
    terminalTold: terminal === undefined ? editor.can("command") : terminal !== "",
    environment: services.commandEnvironment,
    limits: services.commandLimits,
    staging:
      client !== undefined || stages === undefined
        ? undefined
        : {
            stages,
            background,
            zeroAccess: rules.zeroAccess,
            session: session.id,
            usersContents: (path, sha256) => usersContents(state.changeSets.values(), path, sha256),
            isOwnBranch: (name) => isOwnBranch(state.changeSets.values(), name),
            isOwnTip: (name, id) => isOwnTip(state.changeSets.values(), name, id),
            isOwnStash: (id) => isOwnStash(state.changeSets.values(), id),
            proposal: proposal?.tree,
            unfinished: async () => (await SessionProposal.needed(session)).tree,
            learnSecrets: learnSecrets(session, rules),
            keys: services.userKeys && {
              user: services.userKeys,
              addresses: session.privateHosts,
              learn: (secret) => services.redactor.learn(secret),
            },
          },
    exclude: rules.searchExcludes,
    now: services.now,
  });
  const ofBackground = [bashOutputTool(background), killShellTool(background)];
  if (client === undefined && stages !== undefined) for (const tool of ofBackground) tools.set(tool.name, tool);
  if (proposal !== undefined && tools.has("ProposeChanges")) {
    const ports = {
      workspace: proposal.workspace,
      knownFiles: turn.knownFiles,
      blobs: services.blobs,
      seen: session.seen,
      editor: withoutBuffers(editor, () => true),
    };
    tools.set("ProposeChanges", stageProposedChanges(ports));
  }
  tools.set("AskUser", askUserTool(editor));
  const web = await services.loadWeb();
  if (web.enabled) tools.set("WebFetch", webFetchTool(web));
  const { search } = web;
  if (search !== undefined) {
    const key = () => services.searchKey(search.provider);
    tools.set("WebSearch", webSearchTool(search, { key, redact: (text) => services.redactor.redact(text) }));
  }
  const places = {
    root: workspace.controlRoot,
    userDirectory: services.configDir,
    home: services.home,
    mayRead: await createMayRead(session, signal),
  };
  const { found: skills, warnings: skillWarnings } = await loadSkills(places);
  const subAgents = await loadSubAgents(places);
  const { editorAbilities } = session;
  for (const kind of ["diagnostics", "find-symbols"] as const) if (editor.can(kind)) editorAbilities.add(kind);
  if (editorAbilities.has("diagnostics")) tools.set("Problems", problemsTool({ workspace, editor }));
  if (editorAbilities.has("find-symbols")) tools.set("Symbols", symbolsTool({ workspace, editor }));
  if (skills.size > 0) tools.set("Skill", skillTool({ workspace, skills }));
  if (client?.commands === "none") tools.delete("Bash");

  const ownTools = new Map([...tools].filter(([name]) => ownToolNames.has(name)));
  if (proposal !== undefined || editingMode === "branch") {
    ownTools.set(
      "ProposeChanges",
      proposeStagedTool(() => SessionProposal.needed(session), services.blobs),
    );
  }

  const offered = offeredNames(editingMode, scenario, rules.intentsOn);
  for (const name of [...tools.keys()]) if (!offered.has(name)) tools.delete(name);
  const external =
    turn.onlyChecks || client !== undefined
      ? noTools
      : await services.mcp.tools(workspace, scenario.mcp, {
          user: askedUntil(turn.over, editor),
          background: ofBackground.every(({ name }) => offered.has(name))
            ? { takeOn: async (...task) => stateOf(await background.takeOn(...task)) }
            : undefined,
        });
  if (external.tools.length > 0)
    for (const tool of ofBackground.filter(({ name }) => offered.has(name))) tools.set(tool.name, tool);
  for (const tool of external.tools) {
    // If nothing may be written, only tools that only read according to the user.
    if (editingMode === "branch" || tool.access === "read") tools.set(tool.name, tool);
  }
  const loadTools = loadToolsTool([...tools.values()]);
  if (loadTools !== undefined) tools.set(loadTools.name, loadTools);
  return {
    tools,
    ownTools,
    offered,
    subAgents: subAgents.found,
    warnings: [
      ...(client === undefined ? [] : warningsForClient(client, scenario)),
      ...external.warnings,
      ...skillWarnings,
      ...subAgents.warnings,
      ...(web.problem === undefined ? [] : [web.problem]),
    ],
  };
}

/** Without the editor's buffers: staged changes are compared with them only when the user keeps something. */
function withoutBuffers(editor: SessionBridge, isStaged: () => boolean): EditorBridge {
  const hidden: ReadonlySet<string> = new Set(["file-read", "apply-changes", "diagnostics"]);
  return { ...editor, can: (kind) => !(hidden.has(kind) && isStaged()) && editor.can(kind) };
}

function offeredNames(editingMode: EditingMode, scenario: Scenario, intentsOn: boolean): ReadonlySet<string> {
  const byScenario = toolsInMode(scenario.tools, editingMode);
  return new Set([
    ...byScenario,
    "AskUser",
    ...(intentsOn ? ["select_active_intent", "request_scope_expansion"] : []),
    ...(canChange(scenario.tools) && editingMode === "branch" ? ["record_lesson"] : []),
    ...(byScenario.includes("Read") ? ["Problems", "Symbols", "Skill"] : []),
  ]);
}

async function keptOutputText({ state, services }: Session, name: string): Promise<string | undefined> {
  const sha256 = state.keptOutputs.get(name);
  const bytes = sha256 === undefined ? undefined : await services.blobs.get(sha256);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

/** Masks secrets from git's history from now on. */
function learnSecrets({ services }: Session, { governance }: TurnRules): Staging["learnSecrets"] {
  return async (options) => {
    for (const value of (await governance.historySecrets?.look(options)) ?? []) services.redactor.learn(value);
  };
}

/** Warnings about what does not work if a client holds the files, as far as this turn may need it. */
function warningsForClient(client: ClientSide, scenario: Scenario): readonly string[] {
  return [
    ...(client.commands === "none"
      ? ["No commands run in this session: the client that holds the files runs none."]
      : []),
    ...(scenario.mcp.some((name) => name !== "*")
      ? ["MCP servers run on the server's machine, which has none of these files: none is offered."]
      : []),
  ];
}

/**
 * Which contents of a file may hold the user's work, if it is now as said: that one alone if the session did not write it;
 * otherwise what the session found, and what it left since. Undefined if the session made the file.
 */
function usersContents(
  changeSets: Iterable<{ readonly files: readonly FileChangeRecord[]; readonly undone: boolean }>,
  path: string,
  sha256: string,
): readonly string[] | undefined {
  let contents: (string | undefined)[] = [];
  for (const { files, undone } of changeSets) {
    for (const file of undone ? [] : files) {
      if (file.path !== path) continue;
      // Somebody else changed it meanwhile, and that is in it too.
      if (file.beforeSha256 !== contents.at(-1)) contents = [];
      contents.push(...(contents.length === 0 ? [file.beforeSha256] : []), file.afterSha256);
    }
  }
  if (contents.at(-1) !== sha256) return [sha256];
  return contents[0] === undefined ? undefined : contents.filter((content) => content !== undefined);
}
