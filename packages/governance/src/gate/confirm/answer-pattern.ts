import { digestOf } from "@gennai/protocol/digest";
import { isAtLeast, type Risk } from "@gennai/protocol/model/governance/risk";
import { plainWords, quotedWords } from "../../command/words/plain-words.ts";
import type { ActionFacts, ActionShape } from "./action-facts.ts";
import {
  describeClass,
  fileClass,
  matchesWords,
  type OperandClass,
  type PatternWord,
  patternWords,
} from "./variable-operands.ts";

/** The circumstances under which a pattern is valid. If any of them changes, the pattern covers nothing. */
export interface AnswerScope {
  readonly sessionId: string;
  readonly policySha256: string;
  readonly isolation: string;
}

/** A narrow class of actions, made from one action that was asked about. */
export interface AnswerPattern {
  /** Digest of everything below: what an answer names. */
  readonly id: string;
  /** For people, e.g. `rm src/*.ts`. */
  readonly text: string;
  readonly place: AnswerScope;
  readonly tool: string;
  /** All rules that asked. */
  readonly rules: readonly string[];
  readonly risk: Risk;
  readonly form: PatternForm;
}

type PatternForm =
  | {
      readonly type: "command";
      readonly words: readonly PatternWord[];
      readonly cwd: string;
      readonly where: "server" | "client";
      readonly access: readonly string[];
      /** What the command depends on, without the files that may vary. */
      readonly operands: Readonly<Record<string, string>>;
    }
  | { readonly type: "file"; readonly operation: string; readonly files: OperandClass & { readonly type: "files" } };

/** Rules whose question may be answered for more than the exact action. All others ask about something particular. */
const answerable = /^(?:commands\/not-proven-to-read|intents\/command-scope|rules\/.+)$/;

/** Patterns to offer for an action that asks; none where only the exact action can be answered for. */
export function patternsFor(facts: ActionFacts, place: AnswerScope): readonly AnswerPattern[] {
  const { shape, risk, rules, tool } = facts;
  if (shape === undefined || facts.verdict !== "ask" || isAtLeast(risk, "high")) return [];
  if (rules.length === 0 || !rules.every((rule) => answerable.test(rule))) return [];
  const form = formOf(shape);
  if (form === undefined) return [];
  const body = { text: textOf(form, tool), place, tool, rules, risk, form };
  const pattern = { id: digestOf(body), ...body };
  // An offered pattern covers at least the action it was made from.
  return covers(pattern, facts, place) ? [pattern] : [];
}

/** True when a yes to the pattern is a yes to this action in this place. */
export function covers(pattern: AnswerPattern, facts: ActionFacts, place: AnswerScope): boolean {
  const { shape } = facts;
  if (shape === undefined || facts.verdict !== "ask" || isAtLeast(facts.risk, "high")) return false;
  if (!isAtLeast(pattern.risk, facts.risk) || facts.tool !== pattern.tool) return false;
  if (!sameTexts(facts.rules, pattern.rules)) return false;
  if (
    place.sessionId !== pattern.place.sessionId ||
    place.policySha256 !== pattern.place.policySha256 ||
    place.isolation !== pattern.place.isolation
  )
    return false;
  return hasForm(pattern.form, shape);
}

/** Whether a command's text has the pattern's form; its effects are not checked. */
export function hasWords(form: PatternForm, command: string): boolean {
  const words = form.type === "command" ? plainWords(command) : undefined;
  return form.type === "command" && words !== undefined && matchesWords(form.words, words);
}

export function hasPath(form: PatternForm, path: string): boolean {
  if (form.type !== "file") return false;
  const found = fileClass(path);
  return found?.directory === form.files.directory && found.extension === form.files.extension;
}

function hasForm(form: PatternForm, shape: ActionShape): boolean {
  if (form.type === "file") {
    return shape.type === "file" && shape.operation === form.operation && hasPath(form, shape.path);
  }
  return (
    shape.type === "command" &&
    shape.cwd === form.cwd &&
    shape.where === form.where &&
    matchesWords(form.words, shape.words) &&
    sameTexts(shape.access, form.access) &&
    digestOf(fixedOperands(shape, form.words)) === digestOf(form.operands)
  );
}

function formOf(shape: ActionShape): PatternForm | undefined {
  if (shape.type === "file") {
    const files = fileClass(shape.path);
    return files === undefined ? undefined : { type: "file", operation: shape.operation, files };
  }
  const words = patternWords(shape.words);
  if (words === undefined) return undefined;
  const { cwd, where, access } = shape;
  return { type: "command", words, cwd, where, access, operands: fixedOperands(shape, words) };
}

/** The hashes of files that a varying operand names belong to the one action, not to the pattern. */
function fixedOperands(
  shape: ActionShape & { readonly type: "command" },
  words: readonly PatternWord[],
): Readonly<Record<string, string>> {
  const varying = new Set(
    words.flatMap((word, index) => {
      const path = shape.words[index] ?? "";
      return "any" in word && word.any.type === "files" ? [shape.cwd === "" ? path : `${shape.cwd}/${path}`] : [];
    }),
  );
  return Object.fromEntries(Object.entries(shape.operands).filter(([name]) => !varying.has(name)));
}

function textOf(form: PatternForm, tool: string): string {
  if (form.type === "file") return `${tool} ${describeClass(form.files)} (${form.operation})`;
  const text = form.words
    .map((word) => ("exactly" in word ? quotedWords([word.exactly]) : describeClass(word.any)))
    .join(" ");
  return form.cwd === "" ? text : `${text}  (in ${form.cwd})`;
}

function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}
