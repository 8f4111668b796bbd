import type { Scenario } from "@gennai/agent/scenarios/scenario";
import { canChange, toolsInMode } from "@gennai/agent/scenarios/tool-groups";
import type { Tool } from "@gennai/governance/tool";
import { webFetchTool } from "@gennai/machine/web/web-fetch-tool";
import type { EditingMode } from "@gennai/protocol/model/session-settings";
import type { SessionBridge } from "../bridge/session-bridge.ts";
import { warningsForClient } from "../client-workspace/client-warnings.ts";
import { type RepositoryChecks, withCheckOperands } from "../context/accept-check.ts";
import { createMayRead } from "../context/may-read.ts";
import type { OfferedTools } from "../mcp/mcp-servers.ts";
import type { TurnRules } from "../policies/turn-rules.ts";
import type { KnownFiles } from "../session/known-files.ts";
import type { Session } from "../session/session.ts";
import { loadSkills } from "../skills/load-skills.ts";
import { bashOutputTool } from "../tools/background/bash-output-tool.ts";
import { killShellTool } from "../tools/background/kill-shell-tool.ts";
import { withEndedRuns } from "../tools/background/with-ended-runs.ts";
import type { Staging } from "../tools/commands/bash-tool.ts";
import { problemsTool } from "../tools/reading/problems-tool.ts";
import { skillTool } from "../tools/reading/skill-tool.ts";
import { symbolsTool } from "../tools/reading/symbols-tool.ts";
import { createTools } from "../tools/tool-set.ts";

/** The tools of one turn, not yet behind a gate. */
export interface TurnTools {
  /** What the model may call, by name. */
  readonly tools: Map<string, Tool>;
  /** What the server calls for the user, in every scenario. */
  readonly ownTools: Map<string, Tool>;
  /** Names that the scenario and the editing mode permit, whether there is such a tool or not. */
  readonly offered: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

const ownToolNames: ReadonlySet<string> = new Set(["Read", "Glob", "Bash", "Problems"]);
const noTools: OfferedTools = { tools: [], warnings: [] };

/** The tools that a turn with this scenario has: the server's, those its editor can help with, skills, and those of others. */
export async function turnTools(
  session: Session,
  scenario: Scenario,
  turn: {
    readonly editor: SessionBridge;
    readonly rules: TurnRules;
    readonly editingMode: EditingMode;
    readonly knownFiles: KnownFiles;
    readonly repositoryChecks: RepositoryChecks;
    /** Nothing runs, so the tools of others are not started. */
    readonly onlyChecks: boolean;
    readonly signal: AbortSignal;
  },
): Promise<TurnTools> {
  const { services, workspace, state, background } = session;
  const { editor, rules, editingMode, signal } = turn;
  const { client } = workspace;
  const { stages } = services;
  const tools = createTools({
    workspace,
    editor,
    blobs: services.blobs,
    knownFiles: turn.knownFiles,
    seen: session.seen,
    todos: { read: () => state.todos },
    intents: rules.governance.intents,
    activeIntent: () => state.activeIntentId,
    home: client?.home ?? services.home,
    environment: services.commandEnvironment,
    limits: services.commandLimits,
    sandbox: services.sandbox.state === "sandboxed" ? services.sandbox.shell : undefined,
    staging:
      client !== undefined || stages === undefined
        ? undefined
        : {
            stages,
            background,
            zeroAccess: rules.zeroAccess,
            session: session.id,
            learnSecrets: learnSecrets(session, rules),
          },
    controlWatch: services.controlWatch,
    protectedBranches: [...services.protectedBranches, ...rules.config.protectedBranches],
    exclude: rules.searchExcludes,
    now: services.now,
  });
  if (client === undefined && stages !== undefined) {
    tools.set("BashOutput", bashOutputTool(background));
    tools.set("KillShell", killShellTool(background));
  }
  const web = await services.loadWeb();
  if (web.enabled) tools.set("WebFetch", webFetchTool({ web: async () => web }));
  const { skills, warnings: skillWarnings } = await loadSkills({
    root: workspace.controlRoot,
    userDirectory: services.configDir,
    mayRead: await createMayRead(session, signal),
  });
  if (editor.can("diagnostics")) tools.set("Problems", problemsTool({ workspace, editor }));
  if (editor.can("find-symbols")) tools.set("Symbols", symbolsTool({ workspace, editor }));
  if (skills.size > 0) tools.set("Skill", skillTool({ workspace, skills }));
  if (client?.commands === "none") tools.delete("Bash");

  const ownTools = new Map([...tools].filter(([name]) => ownToolNames.has(name)));
  const bash = ownTools.get("Bash");
  if (bash !== undefined) ownTools.set("Bash", withCheckOperands(bash, turn.repositoryChecks, workspace));

  const offered = offeredNames(editingMode, scenario, rules.intentsOn);
  for (const name of [...tools.keys()]) if (!offered.has(name)) tools.delete(name);
  const external =
    turn.onlyChecks || client !== undefined ? noTools : await services.mcp.tools(workspace, scenario.mcp);
  for (const tool of external.tools) {
    // Where nothing may be written, only what by the user's word only reads.
    if (editingMode === "branch" || tool.access === "read") tools.set(tool.name, tool);
  }
  for (const [name, tool] of tools) tools.set(name, withEndedRuns(tool, background));
  return {
    tools,
    ownTools,
    offered,
    warnings: [
      ...(client === undefined ? [] : warningsForClient(client, scenario)),
      ...external.warnings,
      ...skillWarnings,
      ...(web.problem === undefined ? [] : [web.problem]),
    ],
  };
}

function offeredNames(editingMode: EditingMode, scenario: Scenario, intentsOn: boolean): ReadonlySet<string> {
  const byScenario = toolsInMode(scenario.tools, editingMode);
  return new Set([
    ...byScenario,
    ...(intentsOn ? ["select_active_intent", "request_scope_expansion"] : []),
    ...(canChange(scenario.tools) && editingMode === "branch" ? ["record_lesson"] : []),
    ...(byScenario.includes("Read") ? ["Problems", "Symbols", "Skill"] : []),
  ]);
}

/** Has what git's history holds of secrets masked from now on. */
function learnSecrets({ services }: Session, { governance }: TurnRules): Staging["learnSecrets"] {
  return async (options) => {
    for (const value of (await governance.historySecrets?.look(options)) ?? []) services.redactor.learn(value);
  };
}
