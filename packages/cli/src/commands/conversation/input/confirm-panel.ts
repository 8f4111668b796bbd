import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { keptWithout, offeredAnswers } from "@gennai/client/questions/offered-answers";
import { questionWords } from "@gennai/client/questions/question-words";
import { shownAction } from "@gennai/client/questions/shown-action";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { closedUnderNeeds, droppedForRest } from "@gennai/protocol/model/governance/offered-parts";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import { plural } from "@gennai/protocol/plural";
import { readAnswer } from "../../../client/read-answer.ts";
import { describeQuestion } from "../../../client/terminal-confirmation.ts";
import { colouredLine, colouredRisk, type Paint } from "../../../terminal/colours.ts";
import { edged, inLines, type Panel, type PanelAnswer } from "./panel.ts";

/** Lines of a diff that are shown before somebody asks for all. */
const diffLines = 8;
/** Lines of a command that are shown before somebody asks for all. */
const commandLines = 6;
/** Parts that can be chosen by a number. */
const numbered = 9;

/** A question of the gate in a few lines: what is asked, what the server found, what the model claims, and the keys. */
export class ConfirmPanel implements Panel<ConfirmationReply> {
  readonly #question: ConfirmationQuestion;
  readonly #paint: Paint;
  /** Ids of parts that are not kept. */
  #dropped: ReadonlySet<string> = new Set();

  constructor(question: ConfirmationQuestion, paint: Paint) {
    this.#question = question;
    this.#paint = paint;
  }

  get subject(): string {
    return this.#question.maskedStatement ?? this.#question.title;
  }

  lines(width: number): readonly string[] {
    const { computed, modelClaim } = this.#question;
    const { what } = questionWords(this.#question);
    const paint = this.#paint;
    const { reason, rule, risk } = computed;
    const { command } = shownAction(this.#question.actionJson);
    // What runs already stands above the question, with its command.
    const isRun = command === undefined || this.#question.diff !== undefined || this.#question.parts !== undefined;
    const action = isRun ? [] : spelled(command);
    const shown = action.slice(0, commandLines);
    const more = action.length > shown.length ? [paint("dim", `… ${action.length - shown.length} more lines (d)`)] : [];
    const why = reason === "" ? [] : [`${oneLine(reason)}${rule === "" ? "" : paint("dim", `   [${oneLine(rule)}]`)}`];
    const claim = modelClaim === "" ? [] : [paint(["italic", "dim"], `the model says: “${oneLine(modelClaim)}”`)];
    const all = [
      `${paint("bold", oneLine(what))}   ${colouredRisk(risk, paint)}`,
      ...shown,
      ...more,
      ...why,
      ...this.#diff(),
      ...this.#parts(width),
      ...claim,
    ];
    const edge = paint(isAtLeast(risk, "high") ? "red" : isAtLeast(risk, "medium") ? "yellow" : "green", "┃");
    return edged(all, edge, width);
  }

  choices(width: number): readonly string[] {
    const { offeredScopes, parts = [], patterns = [], deadline } = this.#question;
    const rest = droppedForRest(parts);
    const { yes, no } = questionWords(this.#question);
    const keys = [
      ["y", this.#dropped.size === 0 ? yes.toLowerCase() : "keep the chosen"],
      ...(rest === undefined ? [] : [["r", "keep the rest"]]),
      ...(parts.length > 1 ? [[`1-${Math.min(numbered, parts.length)}`, "choose"]] : []),
      ...(offeredScopes.includes("turn") ? [["t", "this turn"]] : []),
      ...(offeredScopes.includes("session") ? [["s", "this session"]] : []),
      ...(offeredScopes.includes("workspace") ? [["w", "this workspace"]] : []),
      ...(patterns.length === 0 ? [] : [["p", "a pattern"]]),
      ["n", no.toLowerCase()],
      ["N", "and say why"],
      ["d", "details"],
    ] as const;
    const seconds = deadline === undefined ? 0 : Math.round((deadline.getTime() - Date.now()) / 1000);
    const time =
      deadline === undefined || seconds > 120 ? [] : [this.#paint("dim", `refused in ${Math.max(0, seconds)} s`)];
    const choices = keys.map(([key = "", words]) => `${this.#paint(["bold", "cyan"], key)} ${words}`);
    return inLines([...choices, ...time], "   ", width);
  }

  key(key: string): PanelAnswer<ConfirmationReply> {
    const { parts = [], patterns = [] } = this.#question;
    if (key === "d") return { type: "print", text: describeQuestion(this.#question, this.#paint) };
    if (key === "N") return { type: "line", mark: "why not?", read: (text) => ({ answer: "no", reason: text.trim() }) };
    if (key === "p" && patterns.length > 0) return { type: "pick", items: this.#patternItems() };
    if (/^[1-9]$/.test(key) && parts.length > 1) return this.#toggle(Number(key) - 1);
    if (!/^[yrtswn]$/.test(key) || (key === "r" && droppedForRest(parts) === undefined)) return { type: "none" };
    if (key === "y" && this.#dropped.size > 0) return { type: "reply", reply: keptWithout([...this.#dropped]) };
    const reply = readAnswer(key, this.#question);
    // A scope that is not offered is no word for no.
    return reply.answer === "no" && key !== "n" ? { type: "none" } : { type: "reply", reply };
  }

  #patternItems() {
    return offeredAnswers(this.#question)
      .filter(({ reply }) => reply.pattern !== undefined)
      .map(({ id, words, reply }) => ({ value: id, label: oneLine(words), reply }));
  }

  /** A part goes with those that need it, and comes back with those that it needs. */
  #toggle(index: number): PanelAnswer<ConfirmationReply> {
    const { parts = [] } = this.#question;
    const part = parts[index];
    if (part === undefined) return { type: "none" };
    const dropped = new Set(this.#dropped);
    if (dropped.delete(part.id)) for (const id of part.needs) dropped.delete(id);
    else dropped.add(part.id);
    this.#dropped = closedUnderNeeds(parts, [...dropped]);
    return { type: "changed" };
  }

  /** The changed lines alone; the names of files where there are several. */
  #diff(): readonly string[] {
    const paint = this.#paint;
    const { diff = "" } = this.#question;
    const files = diff.split("\n").filter((line) => line.startsWith("+++ ")).length;
    const lines = spelled(diff).flatMap((line) => {
      const [, name] = /^\+\+\+ (?:b\/)?(.*)$/.exec(line) ?? [];
      if (name !== undefined) return files > 1 ? [paint("bold", name)] : [];
      return /^[-+](?!-- )/.test(line) ? [colouredLine(line, paint)] : [];
    });
    const left = lines.length - diffLines;
    const shown = lines.slice(0, left > 1 ? diffLines : lines.length);
    return [...shown, ...(left > 1 ? [paint("dim", `… ${plural(left, "line")} more (d)`)] : [])];
  }

  #parts(width: number): readonly string[] {
    const { parts = [] } = this.#question;
    if (parts.length < 2) return [];
    const shown = parts.slice(0, numbered).map(({ id, name, rule }, index) => {
      const mark = this.#dropped.has(id) ? "☐" : "☑";
      const asked = rule === "" ? "" : this.#paint("yellow", " asked");
      return `${this.#paint("cyan", String(index + 1))} ${mark} ${oneLine(name)}${asked}`;
    });
    const left = parts.length - shown.length;
    return inLines([...shown, ...(left > 0 ? [this.#paint("dim", `… ${left} more (d)`)] : [])], "   ", width - 2);
  }
}

function spelled(text: string): readonly string[] {
  return text.replace(/\n$/, "").split("\n").map(spelledOut);
}

function oneLine(text: string): string {
  return spelledOut(text).replace(/\s+/g, " ").trim();
}
