import * as vscode from "vscode";

const contentScheme = "gennai-content";

/** Bytes of text that are kept in addition to open documents. */
const mostBytes = 64 * 1024 * 1024;

/** What a document is about: the new text of a proposed change, or nothing, where the agent deleted a file. */
export type DocumentSubject =
  | { readonly type: "proposed"; readonly proposalId: string; readonly changeId: string }
  | { readonly type: "file"; readonly path: string };

interface ShownDocument {
  readonly text: string;
  readonly subject: DocumentSubject | undefined;
}

/** Documents that are shown together. */
interface ContentGroup {
  /**
   * @param name shown by the tab, e.g. a path; also decides the language
   * @param subject of which it has the actions
   */
  add(name: string, text: string, subject?: DocumentSubject): vscode.Uri;
}

/**
 * Read-only documents with texts of the server. A document is made of a given text; its name has a number, so that no later text
 * can replace a shown one. Open documents are kept, and so are all documents of the same group, because an editor of many files
 * asks for each one only when it scrolls into view. All others are kept up to a limit.
 */
export class ContentDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #mostBytes: number;
  /** Groups of documents by name, oldest first. */
  readonly #groups = new Set<Map<string, ShownDocument>>();
  readonly #groupOf = new Map<string, Map<string, ShownDocument>>();
  readonly #open = new Set<string>();
  readonly #listeners: readonly vscode.Disposable[];
  #bytes = 0;
  #last = 0;

  constructor(options: { readonly mostBytes?: number } = {}) {
    this.#mostBytes = options.mostBytes ?? mostBytes;
    this.#listeners = [
      vscode.workspace.onDidOpenTextDocument(({ uri }) => {
        if (uri.scheme === contentScheme) this.#open.add(uri.toString());
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (this.#open.delete(uri.toString())) this.#forgetOldest();
      }),
    ];
  }

  /** Makes a group, for documents that are shown together. */
  group(): ContentGroup {
    const group = new Map<string, ShownDocument>();
    return { add: (name, text, subject) => this.#add(group, name, text, subject) };
  }

  /** Adds a document that is shown alone. */
  add(name: string, text: string, subject?: DocumentSubject): vscode.Uri {
    return this.group().add(name, text, subject);
  }

  /** undefined: a document has no actions. */
  subjectOf(uri: vscode.Uri): DocumentSubject | undefined {
    return uri.scheme === contentScheme ? this.#held(uri)?.subject : undefined;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#held(uri)?.text ?? "This text is no longer held. Open it again from where you did.";
  }

  dispose(): void {
    for (const listener of this.#listeners) listener.dispose();
  }

  #held(uri: vscode.Uri): ShownDocument | undefined {
    return this.#groupOf.get(uri.toString())?.get(uri.toString());
  }

  #add(
    group: Map<string, ShownDocument>,
    name: string,
    text: string,
    subject: DocumentSubject | undefined,
  ): vscode.Uri {
    // The number is in the query, so that both sides of a diff have the file's own path.
    const query = String(++this.#last);
    const uri = vscode.Uri.from({ scheme: contentScheme, path: `/${name.replace(/^\/+/, "")}`, query });
    group.set(uri.toString(), { text, subject });
    this.#groupOf.set(uri.toString(), group);
    this.#bytes += bytesOf(text);
    // The group that is being filled counts as the newest.
    this.#groups.delete(group);
    this.#groups.add(group);
    this.#forgetOldest();
    return uri;
  }

  #forgetOldest(): void {
    const newest = [...this.#groups].at(-1);
    for (const group of this.#groups) {
      if (this.#bytes <= this.#mostBytes) return;
      if (group === newest || [...group.keys()].some((uri) => this.#open.has(uri))) continue;
      this.#groups.delete(group);
      for (const [uri, { text }] of group) {
        this.#groupOf.delete(uri);
        this.#bytes -= bytesOf(text);
      }
    }
  }
}

/** Bytes of a text in memory. */
function bytesOf(text: string): number {
  return text.length * 2;
}
