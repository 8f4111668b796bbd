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
import type { Hunk, Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { plural } from "@gennai/protocol/plural";
import type { FullView } from "../screen/full-screen.ts";
import { wrapped } from "../screen/terminal-line.ts";
import { colouredLine, type Paint } from "../terminal/colours.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";

/** What is kept or refused as one. */
interface Decidable {
  readonly change: ProposedChange;
  readonly hunkId: string;
  readonly hunk: Hunk | undefined;
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
    const room = Math.max(1, rows - foot.length - 2);
    const { lines, from } = this.#content(columns - 1);
    // The hunk in question begins near the top, with the end of what is above it.
    const start = Math.max(0, Math.min(from - 2, lines.length - room));
    const shown = lines.slice(start, start + room);
    return [this.#head(), "", ...shown, ...Array.from({ length: room - shown.length }, () => ""), ...foot];
  }

  handle(data: string): void {
    const wasSure = this.#isSure;
    this.#isSure = false;
    if (data === "j" || matchesKey(data, "down")) this.#at = Math.min(this.#all.length - 1, this.#at + 1);
    else if (data === "k" || matchesKey(data, "up")) this.#at = Math.max(0, this.#at - 1);
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
    if (next > 0) this.#at = next;
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

  #foot(): readonly string[] {
    const paint = this.#paint;
    if (this.#isSure) {
      const { kept, edited, open } = countDecisions(this.#state, this.#proposal.changes);
      const left = open === 0 ? "" : ` ${open} without a decision ${open === 1 ? "is" : "are"} refused.`;
      return [
        "",
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
    return ["", ...help, keys.map(([name = "", words]) => `${key(name, paint)} ${words}`).join("   ")];
  }

  /** All hunks as lines, and where the one in question begins. */
  #content(width: number): { readonly lines: readonly string[]; readonly from: number } {
    const paint = this.#paint;
    const lines = this.#proposal.warnings.flatMap((warning) => wrapped(paint("yellow", terminalSafe(warning)), width));
    let from = 0;
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
      const decision = this.#decisionOf(each);
      const shown =
        decision?.type === "edited"
          ? decision.text
              .replace(/\n$/, "")
              .split("\n")
              .map((line) => `+${line}`)
          : hunkLines(each);
      lines.push(...shown.map((line) => `${edge}  ${colouredLine(line.replace(/^(\+\+\+|---)/, " $1"), paint)}`));
      lines.push("");
    });
    return { lines, from };
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
  "A hunk without a decision is refused. Nothing is written before Enter, twice.",
  "e opens $EDITOR with the hunk's new text.",
];

function hunkLines({ change, hunk }: Decidable): readonly string[] {
  if (hunk !== undefined) return hunk.lines;
  const lines = change.unifiedDiff.split("\n").filter((line) => line !== "");
  const changed = lines.filter((line) => /^[-+ ](?![-+]{2} )/.test(line));
  // What is no text is only named.
  return changed.length > 0 ? changed : lines.filter((line) => !/^(?:---|\+\+\+|@@)/.test(line));
}

function changeLines(
  { path, operation, movedFrom, conflict, warning, commands = [] }: ProposedChange,
  paint: Paint,
): readonly string[] {
  const from = movedFrom === undefined ? "" : paint("dim", `  moved from ${terminalSafe(movedFrom)}`);
  const made = commands.map((command) => paint("dim", `  changed by ${terminalSafe(command).replace(/\s+/g, " ")}`));
  return [
    `${paint("bold", terminalSafe(path))} ${paint("dim", operation)}${from}`,
    ...(warning === "" ? [] : [paint(conflict ? "red" : "yellow", `  ${terminalSafe(warning)}`)]),
    ...made,
  ];
}

function key(name: string, paint: Paint): string {
  return paint(["bold", "cyan"], name);
}
