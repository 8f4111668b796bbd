import { isSelfHosted, type Provider, providerNames } from "@gennai/protocol/model/session/backend";
import * as vscode from "vscode";
import { showInformation } from "../editor/notifications.ts";
import { openSourceControl } from "../git/vscode-git.ts";
import { askForToken } from "../server/server-dialogs.ts";
import { chooseFolder as choose } from "../session/chosen-folder.ts";
import { usersModelUrl } from "../settings/settings.ts";
import type { Command } from "./workbench.ts";

const callTimeoutMs = 10_000;

export const startServer: Command = async (workbench) => {
  await workbench.startServer();
  const { url, version } = await workbench.connect();
  void showInformation(`The Gennai server ${version} runs at ${url}.`);
};

export const pingServer: Command = async (workbench) => {
  workbench.link.forget();
  const started = performance.now();
  const { url, agent } = await workbench.connect();
  const connected = performance.now();
  const info = await agent.getServerInfo({}, { signal: AbortSignal.timeout(callTimeoutMs) });
  const answered = performance.now();
  const milliseconds = Math.max(1, Math.round(answered - connected));
  workbench.log.info(`Ping ${url}: found in ${Math.round(connected - started)} ms, answered in ${milliseconds} ms`);
  const choice = await showInformation(
    `${url} answered in ${milliseconds} ms: Gennai ${info.version}, ${info.isolation || "isolation unknown"}.`,
    "Copy Details",
  );
  if (choice === undefined) return;
  const { version, protocolVersion, features, defaultWorkingDir, isolation, isolationReason, stages } = info;
  const details = {
    url,
    version,
    protocolVersion,
    features,
    defaultWorkingDir,
    isolation,
    isolationReason,
    stages,
    milliseconds,
  };
  await vscode.env.clipboard.writeText(JSON.stringify(details, undefined, 2));
};

export const setToken: Command = async (workbench) => {
  const { baseUrl, serverPort } = workbench.settings();
  const url = baseUrl === "" ? `http://127.0.0.1:${serverPort}` : baseUrl;
  const token = await askForToken(url);
  if (token === undefined) return;
  await workbench.tokens.set(url, token);
  workbench.link.forget();
  await pingServer(workbench, []);
};

export const setModelKey: Command = async (workbench) => {
  const backend = await vscode.window.showQuickPick([...providerNames], { title: "Set Model Key: whose key is it?" });
  const chosen = providerNames.find((name) => name === backend);
  if (chosen === undefined) return;
  const baseUrl = isSelfHosted(chosen) ? await askWhere(chosen, usersModelUrl(workbench.settings(), chosen)) : "";
  if (baseUrl === undefined) return;
  const whose = baseUrl === "" ? chosen : `${chosen} at ${new URL(baseUrl).origin}`;
  const typed = await vscode.window.showInputBox({
    title: `Key of ${whose}`,
    prompt: "Kept in the secret storage of this machine and in the server's memory, never in a file. Empty: forget it.",
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => (/\s/.test(text.trim()) ? "A key has no spaces in it." : undefined),
  });
  if (typed === undefined) return;
  const key = typed.trim();
  const connection = await workbench.connect();
  await workbench.modelKeys.set(connection, { backend: chosen, baseUrl, key });
  const done =
    key === "" ? `The key of ${whose} is forgotten.` : `The server at ${connection.url} has the key of ${whose}.`;
  void showInformation(done);
};

/** The address of the user's own server: no other server gets its key. undefined: the user cancelled. */
async function askWhere(backend: Provider, usual: string): Promise<string | undefined> {
  const typed = await vscode.window.showInputBox({
    title: `Where is the server of ${backend} that the key is for?`,
    prompt: "The key is sent only to this address.",
    placeHolder: "http://127.0.0.1:8000/v1",
    value: usual,
    ignoreFocusOut: true,
    validateInput: (text) =>
      /^https?:\/\//.test(text.trim()) && URL.canParse(text.trim()) ? undefined : "Type an http or https address.",
  });
  return typed?.trim();
}

export const showLog: Command = async ({ log }) => log.show(true);

export const openSettings: Command = async ({ context }) => {
  await vscode.commands.executeCommand("workbench.action.openSettings", `@ext:${context.extension.id}`);
};

export const openScm: Command = async () => openSourceControl();

export const setUpBranch: Command = async ({ branch, sessions }) => {
  const task = await vscode.window.showInputBox({
    title: "Set Up Agent Branch",
    prompt: "What is the work about? It names the branch.",
    ignoreFocusOut: true,
  });
  if (task === undefined || task.trim() === "") return;
  const outcome = await branch.prepare(task);
  if (outcome.type === "branch") void showInformation(`The agent works on ${outcome.name}.`);
  if (outcome.type !== "proposal") return;
  await sessions.session?.changeSettings({ editingMode: "proposal" }, { signal: AbortSignal.timeout(callTimeoutMs) });
  await vscode.workspace
    .getConfiguration("gennai")
    .update("editingMode", "proposal", vscode.ConfigurationTarget.Workspace);
};

export const listScenarios: Command = async (workbench) => {
  const { agent } = await workbench.connect();
  const sessionId = workbench.sessions.session?.sessionId ?? "";
  const { scenarios } = await agent.listScenarios({ sessionId }, { signal: AbortSignal.timeout(callTimeoutMs) });
  const files = (
    await Promise.all(
      workbench
        .settings()
        .scenarioFiles.map((glob) =>
          vscode.workspace.findFiles(new vscode.RelativePattern(workbench.root, glob), null, 100),
        ),
    )
  ).flat();
  const items: (vscode.QuickPickItem & { readonly scenario?: string; readonly file?: vscode.Uri })[] = [
    ...scenarios.map(({ name, description, tools }) => ({
      label: name,
      description: tools,
      detail: description,
      scenario: name,
    })),
    ...(files.length === 0 ? [] : [{ label: "Files", kind: vscode.QuickPickItemKind.Separator }]),
    ...files.map((file) => ({ label: `$(file) ${vscode.workspace.asRelativePath(file, false)}`, file })),
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: "Scenarios: choose the one of new prompts, or open a file",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (picked?.file !== undefined) await vscode.window.showTextDocument(picked.file);
  if (picked?.scenario !== undefined) {
    await vscode.workspace
      .getConfiguration("gennai")
      .update("defaultScenario", picked.scenario, vscode.ConfigurationTarget.Workspace);
  }
};

export const takeOver: Command = async ({ claim, sessions }) => {
  await claim.takeOver();
  await sessions.attachAgain();
};

export const chooseFolder: Command = ({ context }) => choose(context.workspaceState);

export const openFolder: Command = async () => {
  await vscode.commands.executeCommand("workbench.action.files.openFolder");
};

interface MenuItem extends vscode.QuickPickItem {
  readonly command?: string;
}

/** The menu that the status bar opens. */
export const showMenu: Command = async ({ link, sessions, governance }) => {
  const connected = link.connection !== undefined;
  const running = sessions.facts.turn !== undefined;
  const asks = sessions.facts.questions.size > 0;
  const item = (label: string, command: string): MenuItem => ({ label, command: `gennai.${command}` });
  const { emergency } = governance();
  const anyEmergency =
    emergency.stopAll || emergency.readOnly || emergency.disableHighImpact || emergency.blockedTools.length > 0;
  const items: MenuItem[] = [
    // The first one is preselected.
    asks ? item("$(question) Answer the Question", "openRepl") : item("$(comment-discussion) Open REPL", "openRepl"),
    ...(running ? [item("$(debug-stop) Stop", "stopSession")] : []),
    item("$(checklist) Open Plan Panel", "openPanel"),
    ...(sessions.facts.openProposals.size > 0
      ? [item("$(check-all) Review Proposed Changes", "applyProposedChanges")]
      : []),
    item("$(add) Start Session", "startSession"),
    item("$(hubot) Choose Model…", "chooseModel"),
    ...(connected
      ? [item("$(pulse) Ping Server", "pingServer")]
      : [item("$(rocket) Start Server", "startServer"), item("$(plug) Connect", "pingServer")]),
    { label: "Emergency", kind: vscode.QuickPickItemKind.Separator },
    ...(anyEmergency ? [item("$(unlock) Lift a Control…", "emergencyLift")] : []),
    item("$(stop-circle) Stop All", "emergencyStopAll"),
    item("$(lock) Read-Only", "emergencyReadOnly"),
    { label: "More", kind: vscode.QuickPickItemKind.Separator },
    item("$(target) Select Intent…", "selectIntent"),
    item("$(history) Open Ledger Timeline", "openTimeline"),
    item("$(output) Show Log", "showLog"),
    item("$(gear) Settings", "openSettings"),
  ];
  const picked = await vscode.window.showQuickPick(items, { title: "Gennai" });
  if (picked?.command !== undefined) await vscode.commands.executeCommand(picked.command);
};
