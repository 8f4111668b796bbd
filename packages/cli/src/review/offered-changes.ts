import { spelledOut } from "@gennai/protocol/hidden-characters";
import { isWithin } from "@gennai/protocol/is-within";
import { closedUnderNeeds } from "@gennai/protocol/model/governance/offered-parts";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { KeptOfOffer, Offer, TriedChange } from "@gennai/sessions/policy-workbench/offer-staged";
import { asCliError, usageError } from "../terminal/cli-error.ts";
import { colouredDiff, outcomeColours, type Paint } from "../terminal/colours.ts";
import { type Console, isTerminal } from "../terminal/console.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { LineInput } from "../terminal/line-input.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { reviewOffer } from "./review-offer.ts";

/** What happens to changes that were offered. */
export interface OfferDecision {
  /** undefined: nothing is kept. */
  readonly chosen: KeptOfOffer | undefined;
  /** True if nobody could be asked. */
  readonly unasked: boolean;
}

export interface OfferContext {
  readonly console: Console;
  readonly interrupts: Pick<Interrupts, "interrupt">;
  readonly signal: AbortSignal;
  /** What the user types; all questions of a command share this one input. */
  lines(): LineInput;
}

/** Asks which of the changes are kept, after they were shown. Throws `CliError` for an `include` that names no change. */
export async function decideOffer(
  offer: Offer,
  proposed: () => readonly ProposedChange[],
  flags: { readonly keep: boolean; readonly ask: boolean; readonly include: readonly string[] },
  place: OfferContext,
): Promise<OfferDecision> {
  const { changes } = offer;
  const { console, lines, signal } = place;
  if (flags.keep) {
    const answer = keptUnasked(changes, flags.include);
    if (answer.type === "unclear") throw usageError(`${answer.message} Nothing was kept.`);
    return chosen(answer);
  }
  const { input, errors } = console;
  if (!flags.ask && (!isTerminal(input) || !isTerminal(errors))) return { chosen: undefined, unasked: true };
  for (;;) {
    const said = await lines().question("Keep it? [all, rest, none, hunks, or numbers] ", { signal });
    if (/^\s*(?:h|hunks)\s*$/i.test(said ?? "")) {
      try {
        const reviewed = await reviewOffer(offer, proposed(), place);
        if (reviewed !== "left") return { chosen: reviewed, unasked: false };
      } catch (error) {
        // The work is not lost with its review.
        if (signal.aborted) throw error;
        errors.write(`The review ended with an error: ${terminalSafe(asCliError(error).message)}\n`);
      }
      continue;
    }
    const answer = chosenChanges(said ?? "none", changes);
    if (answer.type === "chosen") return chosen(answer);
    errors.write(`${answer.message}\n`);
  }
}

function chosen({ dropped }: { readonly dropped: ReadonlySet<string> | undefined }): OfferDecision {
  return { chosen: dropped && { dropped }, unasked: false };
}

/** Those of the changes that are kept. */
export function keptOf(changes: readonly TriedChange[], { chosen }: OfferDecision): readonly TriedChange[] {
  return chosen === undefined ? [] : changes.filter(({ id }) => !chosen.dropped.has(id));
}

/** The diff, and each change with its number and the rules' verdict. */
export function describeOffer({ changes, neverKept, diff }: Offer, paint: Paint): string {
  const lines = changes.map(({ name, what, verdict, rule, reason, ignored }, index) => {
    const why = rule === "" ? "" : `  ${paint(outcomeColours[verdict], verdict)}  ${rule}  ${reason}`;
    const unseen = ignored ? "  git ignores it" : "";
    return `${String(index + 1).padStart(4)}  ${what.join(", ").padEnd(8)} ${spelledOut(name)}${unseen}${why}`;
  });
  for (const left of neverKept) lines.push(`      never    ${left}`);
  const list = lines.map((line) => `${terminalSafe(line)}\n`).join("");
  return diff === "" ? list : `${colouredDiff(spelledOut(diff), paint).replace(/\n$/, "")}\n\n${list}`;
}

/** After some were kept: what was left out, and how to take it back. @param name how the user calls this program */
export function describeKept(offered: readonly TriedChange[], kept: readonly TriedChange[], name: string): string {
  const left = offered.filter((change) => change.ignored && !kept.includes(change));
  const names = left.map((change) => terminalSafe(spelledOut(change.name))).join(", ");
  const ignored = left.length === 0 ? "" : `Left out, because git ignores it: ${names}\n`;
  return `${ignored}Undo it: ${name} undo --kept\n`;
}

/** What a person said to "keep it?". */
type KeepAnswer =
  /** Ids of dropped changes; undefined: all are dropped. */
  | { readonly type: "chosen"; readonly dropped: ReadonlySet<string> | undefined }
  | { readonly type: "unclear"; readonly message: string };

/**
 * Reads an answer: `all` keeps what rules do not refuse; `rest` leaves out also what they ask about and what git ignores; `none`
 * keeps nothing; and numbers keep single changes, e.g. `1 3-5`.
 */
export function chosenChanges(answer: string, changes: readonly TriedChange[]): KeepAnswer {
  const word = answer.trim().toLowerCase();
  if (/^(?:n|no|none)$/.test(word)) return { type: "chosen", dropped: undefined };
  if (/^(?:a|all)$/.test(word)) return without(changes, ({ verdict }) => verdict === "deny");
  if (/^(?:r|rest)$/.test(word)) return without(changes, (change) => !isOrdinary(change));
  const kept = new Set<number>();
  for (const part of word.split(/[\s,]+/)) {
    const [, from = "", to = from] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    const [first, last] = [Number(from), Number(to)];
    if (from === "" || first < 1 || last > changes.length || first > last)
      return {
        type: "unclear",
        message: `Say all, rest, none, hunks, or numbers from 1 to ${changes.length}, e.g. 1 3-5.`,
      };
    for (let number = first; number <= last; number += 1) kept.add(number);
  }
  return without(changes, (_change, index) => !kept.has(index + 1));
}

/**
 * What `--keep` keeps: what no rule asks about or refuses and git does not ignore, and what the person named: a path in the list,
 * or a directory that contains it. What rules refuse is dropped. An unknown name is `unclear`.
 */
export function keptUnasked(changes: readonly TriedChange[], included: readonly string[]): KeepAnswer {
  const names = included.map((name) => name.replace(/^\.\//, "").replace(/\/+$/, ""));
  const isNamed = (change: TriedChange, name: string): boolean => isWithin(change.name, { directory: name });
  const lost = names.find((name) => !changes.some((change) => isNamed(change, name)));
  if (lost !== undefined) return { type: "unclear", message: `Nothing of what it changed is named ${lost}.` };
  return without(changes, (change) => {
    if (change.verdict === "deny") return true;
    return !isOrdinary(change) && !names.some((name) => isNamed(change, name));
  });
}

function isOrdinary({ verdict, ignored }: TriedChange): boolean {
  return verdict === "allow" && !ignored;
}

function without(
  changes: readonly TriedChange[],
  isDropped: (change: TriedChange, index: number) => boolean,
): KeepAnswer {
  const dropped = closedUnderNeeds(
    changes,
    changes.filter(isDropped).map(({ id }) => id),
  );
  return { type: "chosen", dropped: dropped.size === changes.length ? undefined : dropped };
}
