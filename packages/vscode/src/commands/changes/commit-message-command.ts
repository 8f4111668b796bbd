import { listIntents } from "@gennai/client/governance/intents";
import { AgentSession } from "@gennai/client/session/agent-session";
import { turnAnswer } from "@gennai/client/session/watched-turn";
import * as vscode from "vscode";
import { askModally, showInformation, showProgress } from "../../editor/notifications.ts";
import { nameOfUri } from "../../editor/workspace-uri.ts";
import { builtMessage, type CommitFacts, commitQuestion, messageOf } from "../../git/commit-message.ts";
import type { GitExtensionRepository } from "../../git/git-extension-api.ts";
import { gitRepository } from "../../git/vscode-git.ts";
import { readSessionSettings } from "../../session/read-settings.ts";
import type { Command, Workbench } from "../workbench.ts";

const callTimeoutMs = 30_000;
/** Prompts, from the newest, that a message is made of. */
const keptPrompts = 20;

/** Writes a message into the box of the repository whose title has the chosen button, else the folder's. Commits nothing. */
export const commitMessage: Command = async (workbench, [sourceControl]) => {
  const own = await gitRepository(vscode.Uri.file(workbench.root));
  const chosen = rootOf(sourceControl);
  const repository = chosen === undefined ? own : await gitRepository(chosen);
  if (typeof repository === "string") {
    void showInformation(`There is no repository to commit to: ${repository}`);
    return;
  }
  await repository.status();
  const session = await workbench.session();
  // The server reads only the changes of the folder's own repository.
  const isOwn = typeof own !== "string" && own.rootUri.toString() === repository.rootUri.toString();
  const root = isOwn ? workbench.root : repository.rootUri.fsPath;
  const facts = await commitFacts(workbench, session, { repository, root });
  if (facts.files.length === 0) {
    void showInformation("Nothing has changed since the last commit.");
    return;
  }
  const message = await showProgress(
    { location: vscode.ProgressLocation.SourceControl, title: "Gennai writes a commit message", cancellable: true },
    async (_report, cancel) => {
      const stop = new AbortController();
      cancel.onCancellationRequested(() => stop.abort());
      return (
        (isOwn ? await askedMessage(session, facts, stop.signal) : undefined) ??
        (stop.signal.aborted ? undefined : builtMessage(facts))
      );
    },
  );
  if (message === undefined || !(await mayReplace(repository.inputBox.value, message))) return;
  repository.inputBox.value = message;
  await vscode.commands.executeCommand("workbench.view.scm");
};

/** The root of a menu's `SourceControl`; undefined if the command was not chosen there. */
function rootOf(sourceControl: unknown): vscode.Uri | undefined {
  if (typeof sourceControl !== "object" || sourceControl === null || !("rootUri" in sourceControl)) return undefined;
  return sourceControl.rootUri instanceof vscode.Uri ? sourceControl.rootUri : undefined;
}

/**
 * The message of a model, in a turn that may only read, of a copy of the session: it is no turn of the user's. undefined without a model,
 * or if it wrote none.
 */
async function askedMessage(session: AgentSession, facts: CommitFacts, stop: AbortSignal): Promise<string | undefined> {
  const { backend } = await readSessionSettings(session.client, session.sessionId);
  if (backend === undefined || backend === "offline") return undefined;
  const request = { text: commitQuestion(facts), scenario: "RESPOND" };
  const { client, identity } = session;
  const signal = AbortSignal.timeout(callTimeoutMs);
  try {
    const { sessionId } = await client.forkSession({ sessionId: session.sessionId }, { signal });
    const copy = await AgentSession.resume(client, identity, sessionId, { signal });
    const answer = await turnAnswer(copy, request, { as: "commit", signal: stop, onAbort: "cancel" }).finally(() =>
      client.deleteSession({ sessionId }, { signal: AbortSignal.timeout(callTimeoutMs) }),
    );
    return answer === undefined ? undefined : messageOf(answer);
  } catch {
    // Where the model fails, the message is built of the facts.
    return undefined;
  }
}

async function commitFacts(
  workbench: Workbench,
  { sessionId }: AgentSession,
  { repository, root }: { readonly repository: GitExtensionRepository; readonly root: string },
): Promise<CommitFacts> {
  const { indexChanges, workingTreeChanges, untrackedChanges = [], HEAD } = repository.state;
  const staged = indexChanges.length > 0;
  const changes = staged ? indexChanges : [...workingTreeChanges, ...untrackedChanges];
  const files = changes.map(({ uri }) => nameOfUri(root, uri)).filter((name) => name !== undefined);
  const { governance } = await workbench.connect();
  const { active } = await listIntents(governance, sessionId, { signal: AbortSignal.timeout(callTimeoutMs) });
  const commit = HEAD?.commit === undefined ? undefined : await repository.getCommit(HEAD.commit);
  const since = commit?.commitDate?.getTime() ?? 0;
  // git's times are whole seconds.
  const prompts = workbench.sessions.view.cells.flatMap(({ item, time }) => {
    const value = item.peek();
    return value.kind === "user-message" && (time?.getTime() ?? 0) >= since ? [value.text] : [];
  });
  return { intent: active, prompts: prompts.slice(-keptPrompts), files: [...new Set(files)], staged };
}

async function mayReplace(present: string, message: string): Promise<boolean> {
  if (present.trim() === "" || present.trim() === message) return true;
  const choice = await askModally("Source Control's box has a message already.", message, "Replace");
  return choice === "Replace";
}
