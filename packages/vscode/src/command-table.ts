import * as adding from "./commands/add-commands.ts";
import { showBackground } from "./commands/background-commands.ts";
import * as agents from "./commands/changes/agents-commands.ts";
import * as allChanges from "./commands/changes/all-changes-commands.ts";
import { commitMessage } from "./commands/changes/commit-message-command.ts";
import { keepIgnored } from "./commands/changes/layer-commands.ts";
import { editHunk, keepHunk, showHunkDiff, undoHunk } from "./commands/changes/review-commands.ts";
import { showAllChanges } from "./commands/changes/show-all-changes.ts";
import { nextHunk, previousHunk } from "./commands/changes/walk-hunks.ts";
import * as governing from "./commands/governance-commands.ts";
import * as mcp from "./commands/mcp-commands.ts";
import * as origins from "./commands/origin-commands.ts";
import * as plans from "./commands/plan-commands.ts";
import * as problems from "./commands/problem-commands.ts";
import * as server from "./commands/server-commands.ts";
import * as session from "./commands/session-commands.ts";
import { showRule } from "./commands/show-rule.ts";
import * as todos from "./commands/todo-commands.ts";
import type { Command } from "./commands/workbench.ts";

const { openSession, ...sessions } = session;
const { openRecord, refreshTimeline, ...governance } = governing;
const { terminalSelection: _selection, testFailureText: _text, ...add } = adding;

const commands = {
  ...sessions,
  ...server,
  ...plans,
  ...governance,
  ...problems,
  ...add,
  ...mcp,
  ...agents,
  ...allChanges,
  ...origins,
  showRule,
  showBackground,
  keepIgnored,
  commitMessage,
  keepHunk,
  undoHunk,
  editHunk,
  showHunkDiff,
  nextHunk,
  previousHunk,
  showAllChanges,
  "sessions.open": openSession,
  "todos.add": todos.addTodo,
  "todos.edit": todos.editTodo,
  "todos.remove": todos.removeTodo,
  "timeline.refresh": refreshTimeline,
  "timeline.openRecord": openRecord,
  // Other names, which users of the RinaWarp extension look for.
  "rinawarp.openPanel": plans.openPanel,
  "rinawarp.plan": plans.plan,
  "rinawarp.preview": plans.preview,
  "rinawarp.approve": plans.approve,
  "rinawarp.execute": plans.execute,
  "rinawarp.verify": plans.verify,
  "rinawarp.pingDaemon": server.pingServer,
} satisfies Readonly<Record<string, Command>>;

export type CommandId = keyof typeof commands;

/** Every command of the manifest, by its name without the prefix `gennai.`: what the files of commands export. */
export const commandTable: ReadonlyMap<string, Command> = new Map(Object.entries(commands));
