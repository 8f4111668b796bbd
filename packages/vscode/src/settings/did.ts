import * as vscode from "vscode";

/** What a person has done; each is a step of the walkthrough in `package.json`. */
export type Deed = "modelChosen" | "asked" | "reviewed" | "governed";

const deedsKey = "gennai.deeds";
const done = new Set<Deed>();
let memory: vscode.Memento | undefined;

/** VS Code counts a step only after it has looked at walkthroughs, maybe days later: so earlier steps are reported again. */
export function rememberDeeds(globalState: vscode.Memento): void {
  memory = globalState;
  for (const deed of globalState.get<readonly Deed[]>(deedsKey, [])) did(deed);
}

/** Completes the walkthrough's step. */
export function did(deed: Deed): void {
  if (done.has(deed)) return;
  done.add(deed);
  void memory?.update(deedsKey, [...done]);
  void vscode.commands.executeCommand("setContext", `gennai.did.${deed}`, true);
}
