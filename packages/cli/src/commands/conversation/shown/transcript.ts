import type { AssistantItem, ItemCell, ThinkingItem, ToolCallItem } from "@gennai/client/view/items/view-item";
import type { SessionView } from "@gennai/client/view/session-view";
import { planScenarioName } from "@gennai/protocol/model/governance/plan";
import { runningCallLine, wholeCallLines } from "../../../client/call-lines.ts";
import { durationWords } from "../../../client/duration-words.ts";
import { itemLines, type LineContext } from "../../../client/item-lines.ts";
import { isSettled } from "../../../client/settled.ts";
import { wrapped } from "../../../screen/terminal-line.ts";
import { terminalSafe } from "../../../terminal/terminal-safe.ts";
import { nextBlock, restSource } from "./markdown-blocks.ts";
import { MarkdownLines } from "./markdown-lines.ts";

/** How far an answer that is still written was printed. */
interface Printed {
  end: number;
  fence: string;
}

/** Lines of live output that are shown of a running call. */
const liveOutputLines = 3;
/** Lines of a session that is gone on with. */
const lastLines = 200;

/** What a session says and does: what is finished as lines that are printed once, the rest as lines that are drawn again. */
export class Transcript {
  readonly #view: SessionView;
  readonly #context: LineContext;
  readonly #markdown: MarkdownLines;
  /** Cells that were not printed as a whole yet, in order. */
  #open: ItemCell[] = [];
  #seen = 0;
  readonly #answers = new Map<string, Printed>();
  /** Ids of turns that write a plan. */
  readonly #planTurns = new Set<string>();
  /** Since when a thought is thought, by its cell's key. */
  readonly #thoughts = new Map<string, number>();

  constructor(view: SessionView, context: LineContext) {
    this.#view = view;
    this.#context = context;
    this.#markdown = new MarkdownLines(context.paint);
  }

  /** Lines that are finished since the last call. */
  finished(width: number): readonly string[] {
    for (; this.#seen < this.#view.cells.length; this.#seen++) {
      const cell = this.#view.cells[this.#seen];
      if (cell !== undefined) this.#open.push(cell);
    }
    const lines: string[] = [];
    const open: ItemCell[] = [];
    for (const cell of this.#open) {
      const item = cell.item.peek();
      if (item.kind === "user-message" && item.scenario === planScenarioName) this.#planTurns.add(cell.turnId);
      // What a planning turn answers is for the server: a person sees the plan.
      if (item.kind === "assistant" && this.#planTurns.has(cell.turnId)) continue;
      if (item.kind === "assistant") lines.push(...this.#blocks(cell.key, item, width));
      if (item.kind === "thinking" && !this.#thoughts.has(cell.key)) this.#thoughts.set(cell.key, Date.now());
      if (!isSettled(item)) open.push(cell);
      else if (item.kind === "thinking") lines.push(this.#thought(cell.key));
      else
        lines.push(...itemLines({ ...cell, item: cell.item }, this.#context).flatMap((line) => wrapped(line, width)));
    }
    this.#open = open;
    return lines;
  }

  /** The end of what a session has said, when somebody comes to it: the rest is left out, and counted. */
  lastOf(width: number): readonly string[] {
    const lines = this.finished(width);
    const left = lines.length - lastLines;
    if (left <= 0) return lines;
    return [this.#context.paint("dim", `… ${left} lines before (/history shows them)`), ...lines.slice(left)];
  }

  /** All that was said, as it would be printed now. */
  whole(width: number): readonly string[] {
    return new Transcript(this.#view, this.#context).finished(width);
  }

  /** What is still written or still runs. */
  live(width: number): readonly string[] {
    const { paint } = this.#context;
    return this.#open.flatMap((cell): readonly string[] => {
      const item = cell.item.peek();
      switch (item.kind) {
        case "assistant": {
          const { end = 0, fence = "" } = this.#answers.get(cell.key) ?? {};
          return this.#markdown.of(restSource(item.text, end, fence), width);
        }
        case "thinking":
          return [paint("dim", `· thinking ${this.#since(cell.key)}`)];
        case "tool-call":
          return [runningCallLine(item, cell.parentCallId, paint), ...this.#liveOutput(item)];
        default:
          return [];
      }
    });
  }

  /** The newest call that has ended or runs, in full; undefined: there was none. */
  lastCall(width: number): readonly string[] | undefined {
    const cell = this.#view.cells.findLast(({ item }) => item.peek().kind === "tool-call");
    const item = cell?.item.peek();
    if (item?.kind !== "tool-call") return undefined;
    return wholeCallLines(item, this.#context.paint).flatMap((line) => wrapped(line, width));
  }

  /** What the model thought last, in full; undefined: it told no thought. */
  lastThought(width: number): readonly string[] | undefined {
    const item = this.#view.cells.findLast((cell) => cell.item.peek().kind === "thinking")?.item.peek();
    if (item?.kind !== "thinking") return undefined;
    return thoughtLines(item, this.#context).flatMap((line) => wrapped(line, width));
  }

  #blocks(key: string, { text, streaming }: AssistantItem, width: number): readonly string[] {
    const printed = this.#answers.get(key) ?? { end: 0, fence: "" };
    const lines: string[] = [];
    for (;;) {
      const block = nextBlock(text, printed.end, { fence: printed.fence, isWhole: !streaming });
      if (block === undefined) break;
      const isApart =
        printed.end === 0 || /\n[ \t]*\n$/.test(text.slice(0, printed.end)) || /^\s*\n/.test(block.source);
      const shown = this.#markdown.of(block.source, width);
      if (shown.length > 0) lines.push(...(isApart ? [""] : []), ...shown);
      printed.end = block.end;
      printed.fence = block.fence;
    }
    this.#answers.set(key, printed);
    return lines;
  }

  #thought(key: string): string {
    return this.#context.paint("dim", `· thought ${this.#since(key)}`.trimEnd());
  }

  #since(key: string): string {
    const passed = Date.now() - (this.#thoughts.get(key) ?? Date.now());
    return passed < 1000 ? "" : `for ${durationWords(passed)}`;
  }

  #liveOutput({ liveOutput }: ToolCallItem): readonly string[] {
    const lines = liveOutput
      .slice(-4000)
      .split("\n")
      .filter((line) => line.trim() !== "");
    return lines.slice(-liveOutputLines).map((line) => this.#context.paint("dim", `  ${terminalSafe(line)}`));
  }
}

function thoughtLines({ text }: ThinkingItem, { paint }: LineContext): readonly string[] {
  return terminalSafe(text)
    .trimEnd()
    .split("\n")
    .map((line) => paint("dim", `· ${line}`));
}
