import { setEmergencyControl } from "@gennai/client/governance/emergency";
import {
  acceptIntents,
  findIntentsToAccept,
  listIntents,
  selectIntent as select,
} from "@gennai/client/governance/intents";
import type { EmergencyControl, EmergencyRequest } from "@gennai/protocol/model/governance/emergency";
import * as vscode from "vscode";
import { showInformation, showProgress, showWarning } from "../editor/notifications.ts";
import { uriOf } from "../editor/workspace-uri.ts";
import { thisMachine } from "../server/this-machine.ts";
import { sessionBundle } from "../session/export-bundle.ts";
import { did } from "../settings/did.ts";
import type { Command, Workbench } from "./workbench.ts";

const callTimeoutMs = 30_000;
const intentsFile = [".orchestration", "active_intents.yaml"] as const;

export const selectIntent: Command = async (workbench) => {
  const session = await workbench.session();
  const { governance } = await workbench.connect();
  // A person needs time to answer between the calls, so each has a timeout of its own.
  const limited = () => ({ signal: AbortSignal.timeout(callTimeoutMs) });
  const { intents, warnings, active } = await listIntents(governance, session.sessionId, limited());
  if (intents.length === 0) {
    const choice = await showInformation(warnings[0] ?? "This workspace has no intents.", "Edit Intents");
    if (choice !== undefined) await editIntents(workbench, []);
    return;
  }
  const unread = await findIntentsToAccept(governance, session.sessionId, limited());
  if (unread !== "") {
    if (!(await wantsToAccept(workbench))) return;
    await acceptIntents(governance, session.sessionId, unread, limited());
  }
  const items = intents.map((intent) => ({
    label: `${intent.id === active?.id ? "$(check) " : intent.selectable ? "" : "$(circle-slash) "}${intent.id}`,
    description: intent.name,
    detail: intent.selectable ? intent.status : `${intent.status}: cannot be selected`,
    intent,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: "Which intent does this session serve?",
    matchOnDescription: true,
  });
  if (picked === undefined || picked.intent.id === active?.id) return;
  const selected = await select(governance, session.sessionId, picked.intent.id, limited());
  void showInformation(`This session serves ${selected.id} ${selected.name}.`);
};

/** Asks again while the file is open to be read. */
async function wantsToAccept(workbench: Workbench): Promise<boolean> {
  const accept = "Accept and Select…";
  const message = "The file of intents is not accepted as it is now, so none can be selected.";
  const choice = await showInformation(message, "Read It", accept);
  if (choice !== "Read It") return choice === accept;
  await editIntents(workbench, []);
  return (await showInformation("What these intents permit counts once you accept them.", accept)) === accept;
}

/** Opens the intents file; if there is none, offers an unsaved draft. */
export const editIntents: Command = async ({ root }) => {
  const uri = vscode.Uri.joinPath(uriOf(root), ...intentsFile);
  try {
    await vscode.workspace.fs.stat(uri);
    await vscode.window.showTextDocument(uri, { preview: false });
  } catch {
    const draft = await vscode.workspace.openTextDocument(uri.with({ scheme: "untitled" }));
    const editor = await vscode.window.showTextDocument(draft, { preview: false });
    if (draft.getText() === "") await editor.insertSnippet(new vscode.SnippetString(firstIntents));
  }
};

const firstIntents = `# Intents: pieces of work that a person authorised, and the paths that each may change.
# Only an intent whose status is active (or in_progress) can be selected.
active_intents:
  - id: INT-001
    name: \${1:Say what this work is about}
    status: \${2:draft}
    # Globs relative to the workspace; a plain directory means all below it, "!glob" excludes and wins.
    owned_scope:
      - "\${3:src/**}"
    constraints:
      - \${4:Say what must not happen}
    acceptance_criteria:
      - \${5:Say how to tell that it is done}
`;

export const emergencyStopAll: Command = (workbench) => switchOn(workbench, "stop-all");
export const emergencyReadOnly: Command = (workbench) => switchOn(workbench, "read-only");
export const emergencyDisableHighImpact: Command = (workbench) => switchOn(workbench, "disable-high-impact");

export const emergencyBlockTool: Command = async (workbench) => {
  const tool = await vscode.window.showInputBox({
    title: "Block which tool?",
    prompt: "A tool (Bash), a program (curl), an MCP server, or the group deploy",
    ignoreFocusOut: true,
  });
  if (tool !== undefined && tool.trim() !== "") await switchOn(workbench, "block-tool", tool.trim());
};

/** Lifts an emergency control; needs a reason, which is recorded. */
export const emergencyLift: Command = async (workbench) => {
  await workbench.session();
  await workbench.readGovernance();
  const { emergency } = workbench.governance();
  const items: (vscode.QuickPickItem & { readonly control: EmergencyControl; readonly tool: string })[] = [
    ...(emergency.stopAll ? [{ label: "Stop All", control: "stop-all" as const, tool: "" }] : []),
    ...(emergency.readOnly ? [{ label: "Read-Only", control: "read-only" as const, tool: "" }] : []),
    ...(emergency.disableHighImpact
      ? [{ label: "Disable High-Impact Actions", control: "disable-high-impact" as const, tool: "" }]
      : []),
    ...emergency.blockedTools.map((tool) => ({ label: `Blocked tool ${tool}`, control: "block-tool" as const, tool })),
  ];
  if (items.length === 0) {
    void showInformation("No emergency control is on.");
    return;
  }
  const picked = await vscode.window.showQuickPick(items, { title: "Lift which control?" });
  if (picked === undefined) return;
  const reason = await vscode.window.showInputBox({
    title: `Lift: ${picked.label}`,
    prompt: "Why? The ledger records it.",
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === "" ? "Say why." : undefined),
  });
  if (reason === undefined) return;
  const { control, tool, label } = picked;
  await setControl(workbench, { control, tool, enabled: false, reason: reason.trim() });
  void showInformation(`Lifted: ${label}.`);
};

async function switchOn(workbench: Workbench, control: EmergencyControl, tool = ""): Promise<void> {
  const stopped = await setControl(workbench, { control, tool, enabled: true, reason: "switched on in the editor" });
  const ended = stopped === 0 ? "" : ` ${stopped} running ${stopped === 1 ? "turn was" : "turns were"} ended.`;
  const choice = await showWarning(`${switchedOn[control]}${tool === "" ? "" : `: ${tool}`}.${ended}`, "Lift…");
  if (choice !== undefined) await emergencyLift(workbench, []);
}

const switchedOn: Record<EmergencyControl, string> = {
  "stop-all": "Everything is stopped, and no turn starts",
  "read-only": "The agent may only read",
  "disable-high-impact": "Actions of high risk are refused",
  "block-tool": "Blocked",
};

async function setControl(workbench: Workbench, request: Omit<EmergencyRequest, "by">): Promise<number> {
  const { governance } = await workbench.connect();
  const signal = AbortSignal.timeout(callTimeoutMs);
  const stopped = await setEmergencyControl(governance, { ...request, by: thisMachine.userName() }, { signal });
  did("governed");
  await workbench.readGovernance();
  return stopped.length;
}

export const openTimeline: Command = async (workbench) => {
  await workbench.session();
  await vscode.commands.executeCommand("gennai.timeline.focus");
  await workbench.timeline.load();
};

export const refreshTimeline: Command = async ({ timeline }) => timeline.load();

/** Shows a record of the ledger, formatted for reading. */
export const openRecord: Command = async ({ documents }, [record]) => {
  const json = typeof record === "object" && record !== null && "json" in record ? record.json : undefined;
  if (typeof json !== "string") return;
  let text = json;
  try {
    text = `${JSON.stringify(JSON.parse(json), undefined, 2)}\n`;
  } catch {
    // A line that is not a record is shown as it is.
  }
  const document = await vscode.workspace.openTextDocument(documents.add("ledger-record.json", text));
  await vscode.window.showTextDocument(document, { preview: true });
};

export const exportBundle: Command = async (workbench) => {
  const session = await workbench.session();
  const { governance } = await workbench.connect();
  const target = await vscode.window.showSaveDialog({
    title: "Export Session Bundle",
    defaultUri: vscode.Uri.joinPath(uriOf(workbench.root), `gennai-session-${session.sessionId.slice(0, 12)}.json`),
    filters: { JSON: ["json"] },
  });
  if (target === undefined) return;
  const { version } = workbench;
  const text = await showProgress(
    { location: vscode.ProgressLocation.Notification, title: "Exporting the session" },
    () => sessionBundle(session, governance, { version, signal: AbortSignal.timeout(120_000) }),
  );
  await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(text));
  void showInformation(`Exported to ${target.fsPath}. It is redacted, but holds what was read and said.`);
};

/** Files in `.orchestration/` belong to the server, so they are shown in a read-only document. */
export const openControlFile: Command = async ({ root, documents }) => {
  const pattern = new vscode.RelativePattern(uriOf(root), ".orchestration/**/*");
  const files = await vscode.workspace.findFiles(pattern, null, 500);
  const items = files
    .map((uri) => ({ label: vscode.workspace.asRelativePath(uri, false), uri }))
    .sort((one, other) => one.label.localeCompare(other.label));
  if (items.length === 0) {
    void showInformation("This workspace has no .orchestration files yet.");
    return;
  }
  const picked = await vscode.window.showQuickPick(items, { title: "Open which file, read-only?" });
  if (picked === undefined) return;
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(picked.uri));
  await vscode.window.showTextDocument(documents.add(picked.label, text), { preview: true });
};
