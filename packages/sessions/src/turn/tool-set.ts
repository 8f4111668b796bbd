import type { BuiltInTool, Tool } from "@gennai/governance/tool";
import type { CommandLimits } from "@gennai/machine/process/command-limits";
import { plainShell } from "@gennai/machine/process/plain-shell";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { BlobStore } from "@gennai/store/log/session-log";
import type { EditorBridge } from "../bridge/session-bridge.ts";
import type { IntentsService } from "../intents/intents-service.ts";
import type { KnownFiles } from "../session/state/known-files.ts";
import type { SeenContents } from "../session/state/seen-contents.ts";
import { bashTool, type Staging } from "../tools/commands/bash-tool.ts";
import { runInTerminalTool } from "../tools/commands/run-in-terminal-tool.ts";
import type { KeptOutputs } from "../tools/kept-output.ts";
import { globTool } from "../tools/reading/glob-tool.ts";
import { grepTool } from "../tools/reading/grep-tool.ts";
import { lsTool } from "../tools/reading/ls-tool.ts";
import { readTool } from "../tools/reading/read-tool.ts";
import { requestScopeExpansionTool, selectActiveIntentTool } from "../tools/session/intent-tools.ts";
import { type TodoList, todoReadTool, todoWriteTool } from "../tools/session/todo-tools.ts";
import { applyPatchTool } from "../tools/writing/apply-patch-tool.ts";
import { deleteTool } from "../tools/writing/delete-tool.ts";
import { editTool, multiEditTool } from "../tools/writing/edit-tools.ts";
import { moveTool } from "../tools/writing/move-tool.ts";
import { notebookEditTool } from "../tools/writing/notebook-edit-tool.ts";
import { proposeChangesTool } from "../tools/writing/propose-changes-tool.ts";
import { recordLessonTool } from "../tools/writing/record-lesson-tool.ts";
import { writeTool } from "../tools/writing/write-tool.ts";

/** What the tools of one session work on. */
export interface ToolPorts {
  readonly workspace: Workspace;
  readonly editor: EditorBridge;
  readonly knownFiles: KnownFiles;
  readonly blobs: BlobStore;
  /** Stores what the model reads and writes; without it, a stale file is not compared with what was read. */
  readonly seen?: SeenContents | undefined;
  readonly todos: TodoList;
  readonly intents: Pick<IntentsService, "selectable" | "expandScope">;
  /** Id of the session's intent. */
  readonly activeIntent: () => string | undefined;
  /** The user's home directory. */
  readonly home: string;
  /** Whether models are told of the user's terminal. */
  readonly terminalTold?: boolean;
  /** Environment of commands, from `commandEnvironment`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resource limits of each command; defaults for missing ones. */
  readonly limits?: Partial<CommandLimits>;
  /** Results too long for the model. */
  readonly outputs: KeptOutputs;
  /** Globs of files that no search may reach. */
  readonly exclude: readonly string[];
  /** Milliseconds since the epoch. */
  now(): number;
  /** Staging of commands; without it, they run in the workspace. */
  readonly staging?: Staging | undefined;
  /** Program and arguments that run a shell command that is not staged; the shell itself by default. */
  shellArguments?(command: string): readonly string[] | Promise<readonly string[]>;
}

/**
 * The tools that need only the session's ports, by name; `turnTools` adds the others. They keep state of one session: create a
 * set for each.
 */
export function createTools(ports: ToolPorts): Map<string, Tool> {
  const shellArguments = ports.shellArguments?.bind(ports) ?? plainShell;
  const tools: readonly BuiltInTool[] = [
    readTool(ports),
    lsTool(ports),
    globTool(ports),
    grepTool(ports),
    writeTool(ports),
    editTool(ports),
    multiEditTool(ports),
    applyPatchTool(ports),
    notebookEditTool(ports),
    deleteTool(ports),
    moveTool(ports),
    bashTool({
      workspace: ports.workspace,
      home: ports.home,
      environment: ports.environment,
      ...(ports.limits === undefined ? {} : { limits: ports.limits }),
      shellArguments,
      staging: ports.staging,
      blobs: ports.blobs,
      seen: ports.seen,
    }),
    runInTerminalTool(ports),
    proposeChangesTool(ports),
    todoReadTool(ports),
    todoWriteTool(ports),
    selectActiveIntentTool(ports),
    requestScopeExpansionTool(ports),
    recordLessonTool(ports),
  ];
  return new Map(tools.map((tool) => [tool.name, tool]));
}
