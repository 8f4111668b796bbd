import type { Step } from "./request.ts";
import { Clause, isWord } from "./request-clause.ts";
import { type RequestToken, tokenizeRequest } from "./request-tokens.ts";

export type ParsedRequest =
  | { readonly type: "steps"; readonly steps: readonly Step[] }
  /** What the assistant understands is asked for. */
  | { readonly type: "help" }
  /** `clause` is the part that made no sense; `advice` says how to put it, where that is known. */
  | { readonly type: "not-understood"; readonly clause: string; readonly advice: string | undefined };

const verbs = new Set(
  "replace change rename move create append delete remove find search show read list ls run add remember say".split(
    " ",
  ),
);
/** Verbs that only count with the word after them. */
const phrases: Readonly<Record<string, string>> = { use: "intent", request: "scope" };

/**
 * Reads the assistant's small language, described in `help-text.ts`. Keywords in any case; an argument is a quoted text, a
 * fenced block, or the plain words up to the next keyword; `then` before a verb joins requests. `under ID:` before them all names
 * the intent they serve. Pure.
 */
export function parseRequest(text: string): ParsedRequest {
  const { intent, tokens: words } = takeIntent(tokenizeRequest(text));
  const clauses = splitClauses(words);
  const [first = []] = clauses;
  // Nothing written is no mistake either.
  if (clauses.length === 0 || (clauses.length === 1 && isHelp(new Clause(text, first)))) return { type: "help" };
  const steps: Step[] = intent === undefined ? [] : [{ kind: "use-intent", id: intent }];
  for (const tokens of clauses) {
    const step = parseClause(new Clause(text, tokens));
    if (typeof step !== "object")
      return { type: "not-understood", clause: new Clause(text, tokens).text(), advice: step };
    steps.push(step);
  }
  return { type: "steps", steps };
}

function isHelp(clause: Clause): boolean {
  return clause.length === 1 && /^help[.!?]?$/.test(clause.word(0) ?? "");
}

/** `under ID:` at the beginning. */
function takeIntent(tokens: readonly RequestToken[]): {
  readonly intent?: string;
  readonly tokens: readonly RequestToken[];
} {
  if (!isWord(tokens[0], "under")) return { tokens };
  const at = isWord(tokens[1], "intent") ? 2 : 1;
  const token = tokens[at];
  const [, intent] = /^(.+)[:,]$/.exec(token?.kind === "word" ? token.value : "") ?? [];
  return intent === undefined ? { tokens } : { intent, tokens: tokens.slice(at + 1) };
}

function splitClauses(tokens: readonly RequestToken[]): readonly (readonly RequestToken[])[] {
  const clauses: RequestToken[][] = [[]];
  tokens.forEach((token, index) => {
    const next = tokens[index + 1];
    if (isWord(token, "then", "then,") && beginsClause(next, tokens[index + 2])) {
      const before = clauses.at(-1);
      if (isWord(before?.at(-1), "and")) before?.pop();
      clauses.push([]);
    } else clauses.at(-1)?.push(token);
  });
  return clauses
    .map((clause) => (isWord(clause[0], "please", "please,") ? clause.slice(1) : clause))
    .filter((clause) => clause.length > 0);
}

function beginsClause(token: RequestToken | undefined, after: RequestToken | undefined): boolean {
  if (token?.kind !== "word") return false;
  const verb = token.value.toLowerCase();
  const second = phrases[verb];
  return verbs.has(verb) || (second !== undefined && isWord(after, second));
}

/** A step, or what to say instead, or undefined when there is nothing to advise. */
function parseClause(clause: Clause): Step | string | undefined {
  const verb = clause.word(0);
  const rest = clause.from(1);
  switch (verb) {
    case "replace":
      return parseReplace(rest, "with");
    case "change":
      return parseReplace(rest, "to");
    case "rename":
      return parseRename(rest);
    case "move":
      return parseMove(rest.without("the").without("file")) ?? "Write: move A to B.";
    case "create":
      return parseCreate(rest.without("a", "the").without("file"));
    case "append":
      return parseAppend(rest);
    case "delete":
    case "remove":
      return withPath(rest.without("the").without("file"), "delete");
    case "find":
      return parseFind(rest);
    case "search":
      return parseFind(rest.without("for"));
    case "show":
    case "read":
      return rest.without("the", "my").isOnly("todos")
        ? { kind: "show-todos" }
        : withPath(rest.without("the").without("file"), "show");
    case "list":
    case "ls":
      return parseList(rest);
    case "run":
      return parseRun(rest);
    case "add":
      return parseTodo(rest.without("a"));
    case "use":
      return parseUse(rest);
    case "under":
      return "Write: under ID: and what shall be done.";
    case "request":
      return parseScopeRequest(rest);
    case "remember":
      return rest.isEmpty ? "Write: remember LESSON." : { kind: "remember", lesson: rest.without("that").text() };
    case "say":
      return rest.isEmpty ? "Write: say TEXT." : { kind: "say", text: rest.text() };
    default:
      return undefined;
  }
}

function parseReplace(rest: Clause, preposition: "with" | "to"): Step | string {
  const [texts, glob] = rest.splitLast("in");
  const [find, replacement] = texts.splitFirst(preposition);
  const from = find.text();
  if (glob.isEmpty || replacement.isEmpty || from === "")
    return "Write: replace A with B in GLOB, e.g. replace foo with bar in src/**/*.ts.";
  return { kind: "replace", find: from, replacement: replacement.text(), glob: glob.path() };
}

function parseRename(rest: Clause): Step | string {
  const plain = rest.without("the");
  if (plain.word(0) === "file") return parseMove(plain.from(1)) ?? "Write: rename file A to B.";
  const [, glob] = rest.splitLast("in");
  if (!glob.isEmpty) return parseReplace(rest, "to");
  const moved = parseMove(rest);
  if (moved !== undefined && [moved.from, moved.to].every((path) => /[/.]/.test(path))) return moved;
  return "Write: rename file A to B for a file, or rename A to B in GLOB for text inside files.";
}

function parseMove(rest: Clause): Extract<Step, { kind: "move" }> | undefined {
  const [from, to] = rest.splitLast("to");
  if (from.isEmpty || to.isEmpty) return undefined;
  const source = from.path();
  const target = to.path();
  const name = source.slice(source.lastIndexOf("/") + 1);
  return { kind: "move", from: source, to: target.endsWith("/") ? target + name : target };
}

function parseCreate(rest: Clause): Step | string {
  const [path, content] = rest.splitFirst("with", "containing");
  const last = path.last;
  const target = content.isEmpty && last?.kind === "fence" ? path.to(-1) : path;
  if (target.isEmpty) return "Write: create FILE with TEXT, or put the text below in a fenced block.";
  const text = content.isEmpty ? (last?.kind === "fence" ? last.value : "") : content.text();
  return { kind: "create", path: target.path(), content: endWithNewline(text) };
}

function parseAppend(rest: Clause): Step | string {
  const last = rest.last;
  if (rest.word(0) === "to" && last?.kind === "fence" && rest.length > 2) {
    return { kind: "append", path: rest.from(1).to(-1).path(), text: endWithNewline(last.value) };
  }
  const [text, path] = rest.splitLast("to");
  if (text.isEmpty || path.isEmpty) return "Write: append TEXT to FILE.";
  return { kind: "append", path: path.path(), text: endWithNewline(text.text()) };
}

function parseFind(rest: Clause): Step | string {
  const [text, glob] = rest.splitLast("in");
  if (text.text() === "") return "Write: find TEXT, or find TEXT in GLOB.";
  return { kind: "find", text: text.text(), glob: glob.isEmpty ? undefined : glob.path() };
}

function parseList(rest: Clause): Step {
  const plain = rest.without("the", "my");
  if (plain.isOnly("todos")) return { kind: "show-todos" };
  // Without an article it may be a directory of that name.
  if (plain !== rest && plain.isOnly("files")) return { kind: "list", path: undefined };
  const directory = plain.without("files").without("in", "of");
  return { kind: "list", path: directory.isEmpty ? undefined : directory.path() };
}

function parseRun(rest: Clause): Step | string {
  const preposition = rest.word(-2) === "the" || rest.word(-2) === "a" ? -3 : -2;
  const terminal = /^terminal[.!]?$/.test(rest.word(-1) ?? "") && rest.word(preposition) === "in";
  const command = terminal ? rest.to(preposition) : rest;
  if (command.text() === "") return "Write: run COMMAND, or run COMMAND in the terminal.";
  return { kind: "run", command: command.text(), terminal };
}

function parseTodo(rest: Clause): Step | string {
  const text = rest.from(1).text();
  if ((rest.word(0) !== "todo" && rest.word(0) !== "todo:") || text === "") return "Write: add todo TEXT.";
  return { kind: "add-todo", text };
}

function parseUse(rest: Clause): Step | string {
  const id = rest.from(1);
  if (rest.word(0) !== "intent" || id.length !== 1) return "Write: use intent ID then what shall be done.";
  return { kind: "use-intent", id: id.text() };
}

function parseScopeRequest(rest: Clause): Step | string {
  const [paths, reason] = rest.from(2).splitFirst("because");
  const list = paths.words();
  if (rest.word(0) !== "scope" || rest.word(1) !== "for" || list.length === 0 || reason.isEmpty)
    return "Write: request scope for PATHS because REASON.";
  return { kind: "request-scope", paths: list, reason: reason.text() };
}

function withPath(rest: Clause, kind: "delete" | "show"): Step | string {
  return rest.isEmpty ? `Write: ${kind} FILE.` : { kind, path: rest.path() };
}

function endWithNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
