import type { CommandId } from "./command-ids.ts";
import * as add from "./commands/add-commands.ts";
import { showBackground } from "./commands/background-commands.ts";
import * as agents from "./commands/changes/agents-commands.ts";
import { keepAll, undoAll } from "./commands/changes/all-changes-commands.ts";
import { commitMessage } from "./commands/changes/commit-message-command.ts";
import { keepIgnored } from "./commands/changes/layer-commands.ts";
import * as review from "./commands/changes/review-commands.ts";
import { showAllChanges } from "./commands/changes/show-all-changes.ts";
import { nextHunk, previousHunk } from "./commands/changes/walk-hunks.ts";
import * as governance from "./commands/governance-commands.ts";
import { acceptMcpServers, addMcpServers } from "./commands/mcp-commands.ts";
import { showOrigin, toggleOrigins } from "./commands/origin-commands.ts";
import * as plan from "./commands/plan-commands.ts";
import * as problem from "./commands/problem-commands.ts";
import * as server from "./commands/server-commands.ts";
import * as session from "./commands/session-commands.ts";
import { showRule } from "./commands/show-rule.ts";
import * as todo from "./commands/todo-commands.ts";
import type { Command } from "./commands/workbench.ts";

export const commandTable: Readonly<Record<CommandId, Command>> = {
  startSession: session.startSession,
  stopSession: session.stopSession,
  invoke: session.invoke,
  invokeInteractive: session.invokeInteractive,
  applyProposedChanges: session.applyProposedChanges,
  openRepl: session.openRepl,
  openReplPanel: session.openReplPanel,
  listScenarios: server.listScenarios,
  openPanel: plan.openPanel,
  plan: plan.plan,
  preview: plan.preview,
  approve: plan.approve,
  execute: plan.execute,
  verify: plan.verify,
  pingServer: server.pingServer,
  selectIntent: governance.selectIntent,
  editIntents: governance.editIntents,
  emergencyStopAll: governance.emergencyStopAll,
  emergencyReadOnly: governance.emergencyReadOnly,
  emergencyDisableHighImpact: governance.emergencyDisableHighImpact,
  emergencyBlockTool: governance.emergencyBlockTool,
  emergencyLift: governance.emergencyLift,
  showRule,
  openTimeline: governance.openTimeline,
  exportBundle: governance.exportBundle,
  startServer: server.startServer,
  showLog: server.showLog,
  revertChangeSet: session.revertChangeSet,
  undo: session.undo,
  showBackground,
  setToken: server.setToken,
  setModelKey: server.setModelKey,
  chooseModel: session.chooseModel,
  openSettings: server.openSettings,
  setUpBranch: server.setUpBranch,
  openScm: server.openScm,
  openControlFile: governance.openControlFile,
  showMenu: server.showMenu,
  takeOver: server.takeOver,
  fixProblem: problem.fixProblem,
  explainProblem: problem.explainProblem,
  addSelection: add.addSelection,
  addFile: add.addFile,
  addTerminalSelection: add.addTerminalSelection,
  addChange: add.addChange,
  addTestFailure: add.addTestFailure,
  addMcpServers,
  acceptMcpServers,
  keepIgnored,
  chooseFolder: server.chooseFolderToWorkOn,
  openFolder: server.openFolder,
  commitMessage,
  keepHunk: review.keepHunk,
  undoHunk: review.undoHunk,
  editHunk: review.editHunk,
  showHunkDiff: review.showHunkDiff,
  keepAll,
  undoAll,
  stageAgents: agents.stageAgents,
  commitAgents: agents.commitAgents,
  showAgentsLines: agents.showAgentsLines,
  nextHunk,
  previousHunk,
  showAllChanges,
  showOrigin,
  toggleOrigins,
  "todos.add": todo.addTodo,
  "todos.edit": todo.editTodo,
  "todos.remove": todo.removeTodo,
  "timeline.refresh": governance.refreshTimeline,
  "timeline.openRecord": governance.openRecord,
  "rinawarp.openPanel": plan.openPanel,
  "rinawarp.plan": plan.plan,
  "rinawarp.preview": plan.preview,
  "rinawarp.approve": plan.approve,
  "rinawarp.execute": plan.execute,
  "rinawarp.verify": plan.verify,
  "rinawarp.pingDaemon": server.pingServer,
};
