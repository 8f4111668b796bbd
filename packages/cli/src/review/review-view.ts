import { isKeyRepeat, matchesKey } from "@earendil-works/pi-tui";
import {
  countDecisions,
  decidableIds,
  decideWhole,
  decisionFor,
  newReview,
  type ReviewState,
} from "@gennai/client/host/review-state";
import { type HunkDecision, wholeChange } from "@gennai/protocol/apply-review";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { Hunk, Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { plural } from "@gennai/protocol/plural";
import type { FullView } from "../screen/full-screen.ts";
import { wrapped } from "../screen/terminal-line.ts";
import { colouredLine, type Paint } from "../terminal/colours.ts";
import { hunkLine, reviewed } from "./review-at-terminal.ts";

/** What is kept or refused as one. */
interface Decidable {
  readonly change: ProposedChange;
  readonly hunkId: string;
  readonly hunk: Hunk | undefined;
}

/** Rows of a hunk as they were drawn last, for a width and what it was edited to. */
interface DrawnHunk {
  readonly width: number;
  readonly edited: string | undefined;
  readonly rows: readonly string[];
}

export interface ReviewActions {
  /** Edits the new text of a hunk elsewhere; undefined: it was left. */
  readonly edit: (change: ProposedChange, hunk: Hunk) => Promise<HunkDecision | undefined>;
  /** undefined: the review is left, and nothing is decided. */
  readonly done: (state: ReviewState | undefined) => void;
  readonly refresh: () => void;
  /** Ids of changes that "all the rest" does not keep. */
  readonly apart?: ReadonlySet<string>;
}

/** A proposal by the hunk, with the keys of the page. */
export class ReviewView implements FullView {
  readonly #proposal: Proposal;
  readonly #all: readonly Decidable[];
  readonly #paint: Paint;
  readonly #actions: ReviewActions;
  #state: ReviewState;
  #at = 0;
  /** Rows of the hunk in question that are scrolled away, how many can be, and how many a page has. */
  #offset = 0;
  #longest = 0;
  #page = 1;
  readonly #drawn = new Map<Decidable, DrawnHunk>();
  /** Enter was pressed once: once more applies. */
  #isSure = false;
  #isHelp = false;

  constructor(proposal: Proposal, paint: Paint, actions: ReviewActions) {
    this.#proposal = proposal;
    this.#paint = paint;
    this.#actions = actions;
    this.#state = newReview(proposal.proposalId);
    this.#all = proposal.changes.flatMap((change) =>
      decidableIds(change).map((hunkId) => ({
        change,
        hunkId,
        hunk: hunkId === wholeChange ? undefined : change.hunks.find(({ id }) => id === hunkId),
      })),
    );
  }

  rows({ columns, rows }: { readonly columns: number; readonly rows: number }): readonly string[] {
    const foot = this.#foot();
    const room = Math.max(1, rows - foot.length - 3);
    const { lines, from, end } = this.#content(columns - 1);
    // The hunk in question begins near the top, with the end of what is above it.
    const top = Math.max(0, Math.min(from - 2, lines.length - room));
    this.#page = Math.max(1, room - 1);
    this.#longest = Math.max(0, end - room - top);
    this.#offset = Math.min(this.#offset, this.#longest);
    const start = top + this.#offset;
    const shown = lines.slice(start, start + room);
    const blank = Array.from({ length: room - shown.length }, () => "");
    return [this.#head(), "", ...shown, ...blank, this.#more(), ...foot];
  }

  handle(data: string): void {
    const wasSure = this.#isSure;
    this.#isSure = false;
    if (data === "j" || matchesKey(data, "down")) this.#goTo(Math.min(this.#all.length - 1, this.#at + 1));
    else if (data === "k" || matchesKey(data, "up")) this.#goTo(Math.max(0, this.#at - 1));
    else if (matchesKey(data, "space") || matchesKey(data, "pageDown"))
      this.#offset = Math.min(this.#longest, this.#offset + this.#page);
    else if (data === "b" || matchesKey(data, "pageUp")) this.#offset = Math.max(0, this.#offset - this.#page);
    else if (data === "?") this.#isHelp = !this.#isHelp;
    else if (data === "q" || matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) {
      if (!wasSure) return this.#actions.done(undefined);
      // A held key only moves.
    } else if (isKeyRepeat(data)) return;
    else if (data === "y") this.#decide({ type: "keep" });
    else if (data === "n") this.#decide({ type: "undo" });
    else if (data === "Y") this.#decideFile({ type: "keep" });
    else if (data === "N") this.#decideFile({ type: "undo" });
    else if (data === "a") this.#decideRest({ type: "keep" });
    else if (data === "d") this.#decideRest({ type: "undo" });
    else if (data === "e") this.#edit();
    else if (matchesKey(data, "enter")) {
      if (wasSure) return this.#actions.done(this.#state);
      this.#isSure = true;
    }
  }

  #decide(decision: HunkDecision): void {
    const now = this.#all[this.#at];
    if (now !== undefined) this.#decideEach([now], decision);
  }

  /** An edit is not decided again by keeping its file. */
  #decideFile(decision: HunkDecision): void {
    const now = this.#all[this.#at]?.change;
    const ofFile = this.#all.filter((each) => each.change === now);
    const isFree = (each: Decidable) => decision.type === "undo" || this.#decisionOf(each)?.type !== "edited";
    this.#decideEach(ofFile.filter(isFree), decision);
  }

  #decideRest(decision: HunkDecision): void {
    const isKept = ({ change }: Decidable) => decision.type === "undo" || this.#actions.apart?.has(change.id) !== true;
    this.#decideEach(
      this.#all.filter((each) => this.#decisionOf(each) === undefined && isKept(each)),
      decision,
    );
  }

  #decideEach(some: readonly Decidable[], decision: HunkDecision): void {
    const { changes } = this.#proposal;
    for (const { change, hunkId } of some) {
      if (change.conflict && decision.type !== "undo") continue;
      this.#state = decideWhole(this.#state, changes, change.id, [hunkId], decision);
    }
    const next = this.#all.findIndex((each, index) => index > this.#at && this.#decisionOf(each) === undefined);
    if (next > 0) this.#goTo(next);
  }

  #goTo(at: number): void {
    if (at !== this.#at) this.#offset = 0;
    this.#at = at;
  }

  #edit(): void {
    const now = this.#all[this.#at];
    if (now?.hunk === undefined || now.change.conflict) return;
    void this.#actions.edit(now.change, now.hunk).then((decision) => {
      if (decision !== undefined) this.#decide(decision);
      this.#actions.refresh();
    });
  }

  #decisionOf({ change, hunkId }: Decidable): HunkDecision | undefined {
    return decisionFor(this.#state, change.id, hunkId);
  }

  #head(): string {
    const { changes } = this.#proposal;
    const { total, kept, undone, edited, open } = countDecisions(this.#state, changes);
    const counts = [`${kept} kept`, `${undone} refused`, ...(edited > 0 ? [`${edited} edited`] : []), `${open} open`];
    return `${this.#paint("bold", "Review")}  ${plural(changes.length, "file")}, ${plural(total, "hunk")}: ${counts.join(", ")}`;
  }

  /** How much of the hunk in question is out of sight. */
  #more(): string {
    const left = this.#longest - this.#offset;
    const words = [
      ...(left > 0 ? [`${left} below: Space`] : []),
      ...(this.#offset > 0 ? [`${this.#offset} above: b`] : []),
    ];
    return words.length === 0 ? "" : this.#paint("yellow", `More rows of this hunk: ${words.join(", ")}`);
  }

  #foot(): readonly string[] {
    const paint = this.#paint;
    if (this.#isSure) {
      const { kept, edited, open } = countDecisions(this.#state, this.#proposal.changes);
      const left = open === 0 ? "" : ` ${open} without a decision ${open === 1 ? "is" : "are"} refused.`;
      return [
        `${paint(["bold", "yellow"], `Apply ${plural(kept + edited, "hunk")}?`)}${left}  ${key("Enter", paint)} applies, any other key goes back`,
      ];
    }
    const keys = [
      ["j k", "walk"],
      ["y", "keep"],
      ["n", "refuse"],
      ["e", "edit"],
      ["Enter", "apply"],
      ["q", "leave"],
      ["?", "more"],
    ];
    const help = this.#isHelp ? helpLines.map((line) => paint("dim", line)) : [];
    return [...help, keys.map(([name = "", words]) => `${key(name, paint)} ${words}`).join("   ")];
  }

  /** All hunks as rows, and where the one in question begins and ends. */
  #content(width: number): { readonly lines: readonly string[]; readonly from: number; readonly end: number } {
    const paint = this.#paint;
    const lines = this.#proposal.warnings.flatMap((warning) => wrapped(paint("yellow", spelledOut(warning)), width));
    let [from, end] = [0, 0];
    this.#all.forEach((each, index) => {
      const { change, hunk } = each;
      const isNow = index === this.#at;
      if (change !== this.#all[index - 1]?.change)
        lines.push(...changeLines(change, paint).flatMap((line) => wrapped(line, width)));
      if (isNow) from = lines.length;
      const edge = isNow ? paint("cyan", "▌") : " ";
      const title =
        hunk === undefined
          ? change.operation
          : `@@ -${hunk.oldRange.start},${hunk.oldRange.count} +${hunk.newRange.start},${hunk.newRange.count} @@`;
      lines.push(`${edge}${this.#mark(each)} ${paint("cyan", title)}`);
      // One by one: as arguments of one call, many lines are more than the stack has room for.
      for (const row of this.#rowsOf(each, Math.max(1, width - 3))) lines.push(`${edge}  ${row}`);
      if (isNow) end = lines.length;
      lines.push("");
    });
    return { lines, from, end };
  }

  /** Rows of a hunk, kept for the next key. */
  #rowsOf(each: Decidable, width: number): readonly string[] {
    const decision = this.#decisionOf(each);
    const edited = decision?.type === "edited" ? decision.text : undefined;
    const before = this.#drawn.get(each);
    if (before?.width === width && before.edited === edited) return before.rows;
    const lines =
      edited === undefined
        ? hunkLines(each, this.#paint)
        : reviewed(edited)
            .replace(/\n$/, "")
            .split("\n")
            .map((line) => hunkLine(`+${line}`, this.#paint));
    const rows = lines.flatMap((line) => wrapped(line, width));
    this.#drawn.set(each, { width, edited, rows });
    return rows;
  }

  #mark(each: Decidable): string {
    const type = this.#decisionOf(each)?.type;
    if (each.change.conflict) return this.#paint("red", "conflict");
    if (type === "keep") return this.#paint("green", "✓ kept");
    if (type === "undo") return this.#paint("red", "✗ refused");
    return type === "edited" ? this.#paint("magenta", "✎ edited") : this.#paint("dim", "· open");
  }
}

const helpLines = [
  "Y keeps, N refuses the whole file. a keeps, d refuses all that has no decision yet.",
  "Space and PageDown show more of a long hunk, b and PageUp what was before.",
  "A hunk without a decision is refused. Nothing is written before Enter, twice.",
  "e opens $EDITOR with the hunk's new text.",
];

/** Of a change without hunks all of its diff: its lines name the files, and what is no text. */
function hunkLines({ change, hunk }: Decidable, paint: Paint): readonly string[] {
  if (hunk !== undefined) return hunk.lines.map((line) => hunkLine(reviewed(line), paint));
  const diff = reviewed(change.unifiedDiff).replace(/\n$/, "");
  return diff === "" ? [] : diff.split("\n").map((line) => colouredLine(line, paint));
}

function changeLines(
  { path, operation, movedFrom, conflict, warning, commands = [] }: ProposedChange,
  paint: Paint,
): readonly string[] {
  const from = movedFrom === undefined ? "" : paint("dim", `  moved from ${spelledOut(movedFrom)}`);
  const made = commands.map((command) => paint("dim", `  changed by ${spelledOut(command).replace(/\s+/g, " ")}`));
  return [
    `${paint("bold", spelledOut(path))} ${paint("dim", operation)}${from}`,
    ...(warning === "" ? [] : [paint(conflict ? "red" : "yellow", `  ${spelledOut(warning)}`)]),
    ...made,
  ];
}

function key(name: string, paint: Paint): string {
  return paint(["bold", "cyan"], name);
}
