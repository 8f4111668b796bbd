import {
  type BackgroundRun,
  listBackgroundRuns,
  openBackgroundPort,
  stopBackgroundRun,
} from "@gennai/client/background-runs";
import type { AgentSession } from "@gennai/client/session/agent-session";
import * as vscode from "vscode";
import { showInformation } from "../editor/notifications.ts";
import type { Command } from "./workbench.ts";

/** Lists the servers and watchers that the agent started: to watch one, stop it, or open one of its ports. */
export const showBackground: Command = async ({ sessions, background }) => {
  const { session } = sessions;
  const runs = session === undefined ? [] : await listBackgroundRuns(session.client, session.sessionId);
  if (session === undefined || runs.length === 0) {
    void showInformation("Nothing runs in the background.");
    return;
  }
  const items = runs.map((run) => {
    return { label: `${run.id}  ${run.command}`, description: run.isRunning ? "runs" : run.end, run };
  });
  const run = (await vscode.window.showQuickPick(items, { title: "Background Runs" }))?.run;
  if (run === undefined) return;
  const what = run.isRunning ? await vscode.window.showQuickPick(actions, { title: run.command }) : "Watch";
  if (what === "Watch") background.watch(session, run);
  if (what === "Stop") await stopBackgroundRun(session.client, { sessionId: session.sessionId, runId: run.id });
  if (what === "Open a Port…") await openPort(session, run);
};

const actions = ["Watch", "Stop", "Open a Port…"] as const;

async function openPort(session: AgentSession, run: BackgroundRun): Promise<void> {
  const text = await vscode.window.showInputBox({
    title: `Open a port of ${run.id}`,
    prompt: "On which port does it listen? Programs of the server's machine can reach it then, until it ends.",
    validateInput: (value) => (/^[1-9]\d{0,4}$/.test(value) ? undefined : "A number from 1 to 65535."),
  });
  if (text === undefined) return;
  const meant = { sessionId: session.sessionId, runId: run.id };
  const local = await openBackgroundPort(session.client, meant, { port: Number(text), localPort: 0 });
  const url = `http://127.0.0.1:${local}`;
  const choice = await showInformation(
    `${url} leads to port ${text} of ${run.id}. Your browser runs the agent's code there.`,
    "Open in Browser",
  );
  if (choice === "Open in Browser") await vscode.env.openExternal(vscode.Uri.parse(url));
}
