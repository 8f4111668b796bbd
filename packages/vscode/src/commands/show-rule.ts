import type { Violation } from "@gennai/client/view/items/view-item";
import * as vscode from "vscode";
import { columnBesideRepl } from "../documents/beside-repl.ts";
import { showInformation } from "../editor/notifications.ts";
import { uriOf } from "../editor/workspace-uri.ts";
import { thisMachine } from "../server/this-machine.ts";
import type { Command, Workbench } from "./workbench.ts";

/** Opens the rule that last stopped, or asked about, a call. */
export const showRule: Command = async (workbench) => {
  const { violation } = workbench.sessions.facts;
  if (violation !== undefined) await openRule(violation, workbench);
  else void showInformation("Damage-Control stopped no call in this session.");
};

/** Opens a rule: at its line in its file or, for a built-in rule, as a description. */
export async function openRule(
  violation: Violation,
  { documents, root }: Pick<Workbench, "documents" | "root">,
): Promise<void> {
  const found = await ruleInFile(violation.place, root);
  if (found === undefined) {
    const uri = documents.add("damage-control.md", describeRule(violation));
    await vscode.window.showTextDocument(uri, { preview: true });
    return;
  }
  const selection = new vscode.Range(found.line, 0, found.line, 0);
  await vscode.window.showTextDocument(found.uri, { preview: true, selection, viewColumn: columnBesideRepl() });
}

/** Opens a rule's file at its line. Rejects with an `Error` that names the place. @param place untrusted */
export async function openRuleAt(place: string, root: string): Promise<void> {
  const found = /\.ya?ml:\d+$/i.test(place) ? await ruleInFile(place, root) : undefined;
  if (found === undefined) throw new Error(`The rule is at ${place}, which this window cannot open.`);
  const selection = new vscode.Range(found.line, 0, found.line, 0);
  await vscode.window.showTextDocument(found.uri, { preview: true, selection, viewColumn: columnBesideRepl() });
}

/** The file and its 0-based line; undefined if this window cannot reach it. */
async function ruleInFile(
  place: string,
  root: string,
): Promise<{ readonly uri: vscode.Uri; readonly line: number } | undefined> {
  const [, file = "", line = ""] = /^(.+):(\d+)$/.exec(place) ?? [];
  if (file === "" || (root === "" && !file.startsWith("~/"))) return undefined;
  const uri = file.startsWith("~/")
    ? vscode.Uri.file(`${thisMachine.home}/${file.slice(2)}`)
    : file.startsWith("/")
      ? vscode.Uri.file(file)
      : vscode.Uri.joinPath(uriOf(root), file);
  try {
    await vscode.workspace.fs.stat(uri);
    return { uri, line: Math.max(0, Number(line) - 1) };
  } catch {
    return undefined;
  }
}

function describeRule({ tool, words, rule, reason, place, action }: Violation): string {
  const lines = [
    `# ${rule}`,
    reason,
    `- Tried: ${tool}, ${words}`,
    `- Result: ${action}`,
    place === ""
      ? "- Where it is: built into the server. No rule file can remove it."
      : `- Where it is: ${place}, which this window cannot open.`,
    "The governance panel of the REPL (**Rules in force**) shows what all rules say about a command, without running it.",
  ];
  return `${lines.join("\n\n")}\n`;
}
