import * as vscode from "vscode";

const contentScheme = "gennai-content";

const kept = 200;

/**
 * Documents that nobody can edit: what the server holds, shown as it is. A document is made of text that is at hand; its name
 * carries a number, so that no later text can take the place of one that is shown.
 */
export class ContentDocuments implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  #last = 0;

  /** @param name what the tab shows, e.g. a path: gives the language too */
  add(name: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: contentScheme, path: `/${++this.#last}/${name.replace(/^\/+/, "")}` });
    this.#texts.set(uri.toString(), text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > kept && oldest !== undefined) this.#texts.delete(oldest);
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? "This text is no longer held. Open it again from where you did.";
  }
}
