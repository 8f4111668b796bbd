import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@earendil-works/pi-tui";
import type { SlashCommand } from "@gennai/client/commands/command";
import { commandUsage } from "@gennai/client/commands/slash-commands";
import { canMention, completeMention, mentionAt, namedMentions } from "@gennai/client/session/text/mentions";
import { terminalSafe } from "../../../terminal/terminal-safe.ts";

/** Where completions come from. */
export interface CompletionSource {
  commands(): Promise<readonly Pick<SlashCommand, "name" | "argument" | "description">[]>;
  /** Paths that begin so; a directory ends with `/`. */
  paths(prefix: string, options: { readonly signal: AbortSignal }): Promise<readonly string[]>;
}

/** Completes `/` commands at the beginning of a prompt, and `@` mentions of files anywhere. */
export class Completion implements AutocompleteProvider {
  readonly #source: CompletionSource;

  constructor(source: CompletionSource) {
    this.#source = source;
  }

  async getSuggestions(
    lines: string[],
    row: number,
    column: number,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<AutocompleteSuggestions | null> {
    const before = lines[row]?.slice(0, column) ?? "";
    try {
      const items =
        row === 0 && /^\/[\w.-]*$/.test(before)
          ? await this.#commands(before)
          : await this.#paths(lines, row, column, signal);
      return items;
    } catch {
      // Without completion, the person types on.
      return null;
    }
  }

  applyCompletion(lines: string[], row: number, column: number, { value }: AutocompleteItem, prefix: string) {
    const line = lines[row] ?? "";
    if (prefix.startsWith("/")) {
      const text = `/${value} ${line.slice(column).trimStart()}`;
      return { lines: lines.with(row, text), cursorLine: row, cursorCol: value.length + 2 };
    }
    const mention = mentionAt(line, column);
    if (mention === undefined) return { lines, cursorLine: row, cursorCol: column };
    const completed = completeMention(line, column, mention, value);
    return { lines: lines.with(row, completed.text), cursorLine: row, cursorCol: completed.caret };
  }

  async #commands(before: string): Promise<AutocompleteSuggestions> {
    const commands = await this.#source.commands();
    const items = commands
      .filter(({ name }) => name.startsWith(before.slice(1).toLowerCase()))
      .map((command) => ({
        value: command.name,
        label: commandUsage(command),
        description: oneLine(command.description),
      }));
    return { items, prefix: before };
  }

  async #paths(
    lines: readonly string[],
    row: number,
    column: number,
    signal: AbortSignal,
  ): Promise<AutocompleteSuggestions | null> {
    const mention = mentionAt(lines[row] ?? "", column);
    if (mention === undefined) return null;
    const { prefix } = mention;
    const paths = await this.#source.paths(prefix, { signal });
    const all = [...namedMentions.filter((name) => name.startsWith(prefix)), ...paths];
    // A name that a terminal cannot show unchanged cannot be chosen here.
    const items = all.filter((path) => terminalSafe(path) === path && canMention(path));
    return { items: items.map((path) => ({ value: path, label: path })), prefix: `@${prefix}` };
  }
}

function oneLine(text: string): string {
  return terminalSafe(text).replace(/\s+/g, " ").trim();
}
