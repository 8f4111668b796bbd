import type { WorkspacePath } from "@gennai/governance/effect";
import { intentMapFile } from "@gennai/governance/ledger/ledger-directory";
import type { FileChange } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { decodeText, encodeText } from "@gennai/machine/workspace/files/text-file";
import type { FileContent, Workspace } from "@gennai/machine/workspace/workspace";
import { errorMessage } from "@gennai/protocol/error-message";
import pLimit from "p-limit";
import { symbolsAt } from "./symbols-at.ts";

const maxMapBytes = 4 * 1024 * 1024;
const maxSourceBytes = 2 * 1024 * 1024;
const attempts = 5;

/**
 * Maintains `.orchestration/intent_map.md`: intents, files, symbols. `record` only notes the change; the file is written
 * atomically a moment later. Errors go to `onWarning`: the map is only a view, so work does not stop for it.
 */
export class IntentMap implements AsyncDisposable {
  readonly #workspace: Workspace;
  readonly #delayMs: number;
  readonly #onWarning: (text: string) => void;
  #pending: { readonly intentId: string; readonly change: FileChange }[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #inOrder = pLimit(1);

  constructor(options: {
    readonly workspace: Workspace;
    readonly onWarning: (text: string) => void;
    /** Milliseconds for collecting changes; default 500. */
    readonly delayMs?: number;
  }) {
    this.#workspace = options.workspace;
    this.#onWarning = options.onWarning;
    this.#delayMs = options.delayMs ?? 500;
  }

  record(intentId: string, changes: readonly FileChange[]): void {
    for (const change of changes) this.#pending.push({ intentId, change });
    if (this.#pending.length === 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), this.#delayMs);
    this.#timer.unref();
  }

  /** Writes what was noted so far. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#inOrder(() => this.#write());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush();
  }

  async #write(): Promise<void> {
    const noted = this.#pending;
    this.#pending = [];
    if (noted.length === 0) return;
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          await this.#writeOnce(noted);
          return;
        } catch (error) {
          // Another server may have written in the meantime: read and merge again.
          if (
            attempt === attempts ||
            !(error instanceof ToolFailure) ||
            !/^(?:stale_file|file_exists)$/.test(error.code)
          )
            throw error;
        }
      }
    } catch (error) {
      this.#onWarning(`${intentMapFile} could not be written: ${errorMessage(error)}`);
    }
  }

  async #writeOnce(noted: readonly { readonly intentId: string; readonly change: FileChange }[]): Promise<void> {
    const path = await this.#workspace.resolve(intentMapFile);
    if (!path.inside || path.relative !== intentMapFile) {
      throw new ToolFailure("intent_map", "it is a link, and is not written through it");
    }
    const before = await this.#contentOf(path, maxMapBytes);
    const entries = parseIntentMap(before === undefined ? "" : (decodeText(before.bytes)?.text ?? ""));
    for (const { intentId, change } of noted) await this.#note(entries, intentId, change);
    const bytes = encodeText(formatIntentMap(entries), { bom: false });
    if (before === undefined) await this.#workspace.apply([{ operation: "create", path, bytes }]);
    else if (!Buffer.from(before.bytes).equals(bytes)) {
      await this.#workspace.apply([{ operation: "update", path, bytes, baseSha256: before.sha256 }]);
    }
  }

  async #note(entries: IntentMapEntries, intentId: string, change: FileChange): Promise<void> {
    if (change.operation === "delete") {
      // Drop files that no longer exist.
      for (const [id, files] of entries) {
        files.delete(change.path);
        if (files.size === 0) entries.delete(id);
      }
      return;
    }
    const files = entries.get(intentId) ?? new Map<string, Set<string>>();
    entries.set(intentId, files);
    const symbols = files.get(change.path) ?? new Set<string>();
    files.set(change.path, symbols);
    if (change.blocks.length === 0) return;
    const content = await this.#contentOf(await this.#workspace.resolve(change.path), maxSourceBytes).catch(
      () => undefined,
    );
    // The blocks are line ranges of the written text; if the file has changed since, they do not match.
    if (content === undefined || content.sha256 !== change.afterSha256) return;
    for (const symbol of symbolsAt(decodeText(content.bytes)?.text ?? "", change.blocks)) symbols.add(symbol);
  }

  async #contentOf(path: WorkspacePath, maxBytes: number): Promise<FileContent | undefined> {
    const stat = await this.#workspace.stat(path);
    return stat === undefined ? undefined : this.#workspace.read(path, { maxBytes });
  }
}

/** By intent id: its files, and in each the changed symbols. */
type IntentMapEntries = Map<string, Map<string, Set<string>>>;

const header = `<!-- Generated by Gennai and kept up to date; changes by hand may be lost. -->

# Intent map

Which intent changed which files, and what in them.
`;

/** Parses the output of `formatIntentMap`; other lines are ignored. */
export function parseIntentMap(text: string): IntentMapEntries {
  const entries: IntentMapEntries = new Map();
  let files: Map<string, Set<string>> | undefined;
  let symbols: Set<string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, mark, quoted] = /^(## |- | {2}- )`([^`]+)`\s*$/.exec(line) ?? [];
    const name = quoted === undefined ? undefined : unquoted(quoted);
    if (name === undefined) continue;
    if (mark === "## ") {
      files = entries.get(name) ?? new Map<string, Set<string>>();
      entries.set(name, files);
      symbols = undefined;
    } else if (mark === "- ") {
      symbols = files?.get(name) ?? new Set<string>();
      files?.set(name, symbols);
    } else symbols?.add(name);
  }
  return entries;
}

/** Sorted, so that equal entries give equal bytes. */
export function formatIntentMap(entries: IntentMapEntries): string {
  const parts = [header];
  for (const [id, files] of sorted(entries)) {
    parts.push(`\n## \`${quoted(id)}\`\n\n`);
    for (const [path, symbols] of sorted(files)) {
      parts.push(`- \`${quoted(path)}\`\n`);
      for (const symbol of [...symbols].toSorted()) parts.push(`  - \`${quoted(symbol)}\`\n`);
    }
  }
  return parts.join("");
}

function sorted<Value>(map: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  return [...map].toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
}

/** Percent-encodes backticks, percent signs and control characters, so that a name stays between its backticks. */
function quoted(name: string): string {
  return name
    .toWellFormed()
    .replaceAll(/[`%\p{Cc}\u2028\u2029]/gu, (character) =>
      character < "\u0080"
        ? `%${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, "0")}`
        : encodeURIComponent(character),
    );
}

function unquoted(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}
