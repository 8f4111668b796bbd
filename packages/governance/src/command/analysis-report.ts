import type { CommandAnalysis, CommandDanger, CommandPath, GitContents, SimpleCommand } from "../command-analysis.ts";
import { onlyReads } from "./only-reads.ts";
import { secretInGlob, secretPath } from "./secret-paths.ts";
import { type DangerRule, type Invocation, type Place, targetsOf } from "./words/invocation.ts";
import { expandPath } from "./words/resolve-path.ts";
import type { ResolvedWord } from "./words/resolve-word.ts";

/** More than this many commands or paths in one line are not looked at one by one; a person must. */
const limit = 2_000;

/** Thrown when a command is too long to follow; what was found until then stays. */
export class TooMuch extends Error {
  override readonly name = "TooMuch";
}

/** Collects what an analysis finds. */
export class AnalysisReport {
  readonly #place: Place;
  readonly #commands: SimpleCommand[] = [];
  readonly #paths = new Map<string, CommandPath>();
  readonly #unresolved = new Set<string>();
  readonly #dangers = new Map<string, CommandDanger>();
  readonly #contents: GitContents[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  command(invocation: Invocation): void {
    this.#commands.push(simpleCommand(invocation));
    if (this.#commands.length > limit) throw new TooMuch("more commands than a person can follow");
  }

  contents(contents: GitContents): void {
    this.#contents.push(contents);
  }

  unresolved(reason: string): void {
    this.#unresolved.add(reason);
  }

  danger(danger: CommandDanger): void {
    // Kept for each command if a rule may ask about it: a yes to one command is no yes to another.
    const of = danger.askable === undefined ? "" : JSON.stringify(danger.askable);
    const key = `${danger.rule}\0${danger.verdict}\0${danger.held}\0${of}`;
    if (!this.#dangers.has(key)) this.#dangers.set(key, danger);
  }

  /** @param more.held see `CommandDanger` */
  refuse(rule: string, reason: string, more: Pick<CommandDanger, "held"> = {}): void {
    this.danger({ rule, verdict: "deny", reason, high: true, ...more });
  }

  ask(rule: string, reason: string): void {
    this.danger({ rule, verdict: "ask", reason, high: true });
  }

  judge(rules: readonly DangerRule[], invocation: Invocation): void {
    for (const rule of rules) {
      const found = rule.find(invocation, this.#place);
      if (found === undefined) continue;
      const { askable, ...danger } = found;
      this.danger({ rule: rule.rule, ...danger, ...(askable && { askable: simpleCommand(invocation) }) });
    }
  }

  /** A word that names files, in every form and directory it may have. */
  path(word: ResolvedWord, access: CommandPath["access"], invocation: Invocation, keepsContent?: true): void {
    for (const { absolute, form } of targetsOf(word, invocation, this.#place)) {
      const isPattern = word.kind === "glob" || word.kind === "dynamic";
      const also = { ...(isPattern && { pattern: true as const }), ...(keepsContent && { keepsContent }) };
      this.#add({ raw: word.raw, absolute, access, ...also });
      this.#secret(word, form, absolute, access);
    }
  }

  /** A path in code or in an option's value: only a guess, so it counts only for secrets and policies. */
  mention(text: string, invocation: Invocation, access: CommandPath["access"] = "unknown"): void {
    if (text === "" || text.length > 1024 || text.includes("\n")) return;
    for (const directory of invocation.directories) {
      const absolute = expandPath(text, directory, this.#place.home);
      this.#add({ raw: text, absolute, access });
      const secret = secretPath(absolute) ?? secretPath(text);
      if (secret !== undefined) this.#denySecret(text, secret.kind);
    }
  }

  #add(path: CommandPath): void {
    const key = `${path.access}\0${path.absolute}`;
    const known = this.#paths.get(key);
    // A change of content counts more than an access that keeps it.
    if (known !== undefined && (path.keepsContent === true || known.keepsContent === undefined)) return;
    if (this.#paths.size > limit) throw new TooMuch("more paths than a person can follow");
    this.#paths.set(key, path);
  }

  #secret(word: ResolvedWord, form: string, absolute: string, access: CommandPath["access"]): void {
    if (access === "list") return;
    if (word.kind === "literal" || word.kind === "choice") {
      const secret = secretPath(absolute) ?? secretPath(form);
      if (secret !== undefined) this.#denySecret(word.raw, secret.kind);
      else if (/[*?[]/.test(form)) this.aimedGlob(form);
      return;
    }
    const secret = secretInGlob(absolute, { dot: false });
    if (secret === undefined) return;
    if (secret.how === "aimed") this.#denySecret(word.raw, secret.kind);
    // A wildcard below a named directory is common; at the root it covers everything.
    else if (
      access !== "read" ||
      !absolute.startsWith(`${this.#place.workspace}/`) ||
      !absolute.slice(this.#place.workspace.length + 1).includes("/")
    ) {
      this.danger({ rule: "floor/credentials", verdict: "ask", reason: `${word.raw} may take in ${secret.kind}.` });
    }
  }

  /** A pattern that a program expands itself and that selects files with secrets. */
  aimedGlob(glob: string): void {
    const secret = glob.startsWith("!") ? undefined : secretInGlob(glob, { dot: true });
    if (secret?.how === "aimed") this.#denySecret(glob, secret.kind);
  }

  #denySecret(raw: string, kind: string): void {
    this.refuse("floor/credentials", `${raw} is ${kind}; its content is not for the agent.`);
  }

  finish(text: string): CommandAnalysis {
    // Through a link, the opened file is elsewhere than its name says.
    if (this.#commands.length > 1 && this.#commands.some(({ name }) => /^(?:ln|link)$/.test(name)))
      this.unresolved("files that are reached through a link made by the same command");
    const dangers = [...this.#dangers.values()].sort((a, b) =>
      a.verdict === b.verdict ? 0 : a.verdict === "deny" ? -1 : 1,
    );
    const readsOnly =
      dangers.length === 0 && this.#unresolved.size === 0 && onlyReads(text, this.#commands, this.#place);
    const high = dangers.some((danger) => danger.high || danger.verdict === "deny");
    return {
      text,
      commands: this.#commands,
      paths: [...this.#paths.values()],
      readsOnly,
      risk: high ? "high" : readsOnly ? "low" : "medium",
      unresolved: [...this.#unresolved],
      dangers,
      contents: this.#contents,
    };
  }
}

function simpleCommand({ name, words, wrappers }: Invocation): SimpleCommand {
  return { name, words: words.map(({ literal }) => literal), wrappers };
}
