import { forEachChild, parse, type SyntaxNode } from "unbash";
import type { CommandAnalysis, SimpleCommand } from "../command-analysis.ts";

/** Every text of a command that patterns are matched against. */
export interface CommandTexts {
  /** The text as it would run. */
  readonly raw: string;
  /** Each program with its words, without and with its wrappers. */
  readonly simple: readonly string[];
  /**
   * `raw` without what is only text: comments, messages of commits, and in a command that is proven to read also
   * here-documents and quoted words with blanks or the shell's own characters. Made when it is first asked for.
   */
  withoutInertText(): string;
}

/** Characters that occur only in quoted words. */
const special = /[\s"'`$&|;<>()]/;

/** More simple commands than this are not matched one by one; the raw text is. */
const limit = 200;

export function commandTexts(command: CommandAnalysis): CommandTexts {
  const inert = isInert(command);
  const simple = new Set<string>();
  for (const each of command.commands.slice(0, limit)) {
    const text = simpleText(each, inert);
    simple.add(text);
    if (each.wrappers.length > 0) simple.add(`${each.wrappers.join(" ")} ${text}`);
  }
  // Unparsed text is cut where a shell might: a leading `;` must not hide what follows.
  if (command.unresolved.length > 0) {
    for (const piece of command.text.split(/[;&|\n(){}`]+/, limit)) if (piece.trim() !== "") simple.add(piece.trim());
  }
  simple.delete(command.text);
  let without: string | undefined;
  return { raw: command.text, simple: [...simple], withoutInertText: () => (without ??= blanked(command.text, inert)) };
}

/** The texts of one program of a command, by itself. */
export function textsOfOne(command: SimpleCommand): CommandTexts {
  const text = simpleText(command, false);
  const wrapped = command.wrappers.length === 0 ? [] : [`${command.wrappers.join(" ")} ${text}`];
  return { raw: text, simple: wrapped, withoutInertText: () => text };
}

/** True when no word of it can run: then quoted text is data. */
function isInert(command: CommandAnalysis): boolean {
  return command.readsOnly && command.unresolved.length === 0 && command.dangers.length === 0;
}

function simpleText({ name, words }: SimpleCommand, inert: boolean): string {
  const parts = [name];
  for (const [index, word] of words.entries()) {
    if (word === undefined) parts.push("*");
    else if (!special.test(word)) parts.push(word);
    else if (isMessage(name, words, index) || inert) parts.push("''");
    else parts.push(word);
  }
  return parts.join(" ");
}

/** The words of a commit message and the like, which git only keeps. */
function isMessage(name: string, words: readonly (string | undefined)[], index: number): boolean {
  if (name !== "git" || !words.slice(0, index).some((word) => /^(?:commit|tag|notes|stash|merge)$/.test(word ?? ""))) {
    return false;
  }
  return /^(?:-[a-zA-Z]*m|--message)$/.test(words[index - 1] ?? "") || /^(?:--message=|-m.)/.test(words[index] ?? "");
}

function blanked(text: string, inert: boolean): string {
  const script = parse(text);
  if ((script.errors ?? []).length > 0) return text;
  const covered = new Uint8Array(text.length);
  const gone: [start: number, end: number][] = [];
  const look = (node: SyntaxNode): void => {
    covered.fill(1, node.pos, node.end);
    if (node.type === "HereDocBody" && inert) gone.push([node.pos, node.end]);
    if (node.type === "Word" && inert && isQuotedText(text.slice(node.pos, node.end))) gone.push([node.pos, node.end]);
    if (node.type === "Command" && node.name?.value === "git") {
      const words = node.args.map((word) => (word.type === "Word" ? word.value : word.text));
      for (const [index, word] of node.args.entries()) {
        const plain = word.type === "Word" && !/[$`]/.test(text.slice(word.pos, word.end).replace(/'[^']*'/g, ""));
        if (plain && isMessage("git", words, index)) gone.push([word.pos, word.end]);
      }
    }
    forEachChild(node, look);
  };
  for (const statement of script.commands) look(statement);
  for (const comment of text.matchAll(/(?<=^|[\s;&|()])#[^\n]*/g)) {
    if (covered[comment.index] === 0 && inert) gone.push([comment.index, comment.index + comment[0].length]);
  }
  let result = text;
  for (const [start, end] of gone.sort((a, b) => b[0] - a[0])) {
    result = result.slice(0, start) + "_".repeat(end - start) + result.slice(end);
  }
  return result;
}

/** Quoted, with something in it that no plain word has, and nothing that the shell would run. */
function isQuotedText(source: string): boolean {
  return /^(?:'[^']*'|"[^"$`\\]*")$/.test(source) && special.test(source.slice(1, -1));
}
