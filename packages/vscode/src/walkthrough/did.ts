import * as vscode from "vscode";

/** What a person has done, each a step of the walkthrough in `package.json`. */
export type Deed = "modelChosen" | "asked" | "reviewed" | "governed";

const done = new Set<Deed>();

/** Completes the walkthrough's step; VS Code remembers it. */
export function did(deed: Deed): void {
  if (done.has(deed)) return;
  done.add(deed);
  void vscode.commands.executeCommand("setContext", `gennai.did.${deed}`, true);
}
