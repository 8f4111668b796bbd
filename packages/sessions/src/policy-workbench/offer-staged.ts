import type { Effect } from "@gennai/governance/effect";
import type { Decided, DecideOptions } from "@gennai/governance/gate/decide/decided-call";
import { decideFound } from "@gennai/governance/gate/decide-found";
import { judgeParts } from "@gennai/governance/gate/judge-parts";
import type { CallContext, FoundPart } from "@gennai/governance/tool";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { KeptInPart } from "@gennai/shell/found/parts-in-hunks";
import type { ReviewableRun } from "@gennai/shell/run/run-staged";
import { PersonsLedger, type PersonsLedgerOptions } from "@gennai/store/ledger/persons-ledger";
import { failedAct } from "../session/refuse-in-emergency.ts";

/** Staged changes shown to a user, who chooses. They are not in the workspace yet. */
export interface Offer {
  /** The rules' verdict on all of them together. */
  readonly verdict: "allow" | "ask" | "deny";
  readonly changes: readonly TriedChange[];
  /** Files that are never kept, each with the reason. */
  readonly neverKept: readonly string[];
  /** A unified diff of the files, shortened. */
  readonly diff: string;
}

/** A unit that is kept or dropped as a whole, e.g. one file, or a directory that git ignores. */
export interface TriedChange {
  /** Lower-case hex. */
  readonly id: string;
  /** Ids of changes that must be kept together with this one. */
  readonly needs: readonly string[];
  readonly name: string;
  /** What was done, e.g. `create`, `ref refs/tags/v1`. */
  readonly what: readonly string[];
  readonly verdict: "allow" | "ask" | "deny";
  /** Empty if allowed. */
  readonly rule: string;
  readonly reason: string;
  /** Ignored by git: no diff shows it, but the user's programs may run it. */
  readonly ignored: boolean;
}

export interface OfferOptions extends Omit<DecideOptions, "tools"> {
  /** The call as which the changes are judged. */
  readonly decided: Decided;
  readonly context: CallContext;
  /** Name in records and for undo, e.g. the command. */
  readonly title: string;
  /** Origin, e.g. `try`. */
  readonly by: string;
  /** Other agent that did it. */
  readonly agent?: string;
  /** Ledger for what is kept. */
  readonly ledger: PersonsLedgerOptions;
  /**
   * What is kept; undefined: nothing.
   * @param proposed the changes with hunks, by their ids, for a review
   */
  readonly choose: (offer: Offer, proposed: () => readonly ProposedChange[]) => Promise<KeptOfOffer | undefined>;
}

/** A person's choice of an offer's changes. */
export interface KeptOfOffer {
  /** Ids of changes that are dropped. */
  readonly dropped: ReadonlySet<string>;
  /** Decisions about the hunks of changes that are kept in part. */
  readonly inPart?: KeptInPart;
}

/** Maximum files named that are never kept. */
const maxNamed = 100;

/**
 * Judges staged changes as in a session, and drops all except what is chosen, which can be undone. The ledger records the choice
 * before, and the result afterwards. Rejects with the signal's reason, with
 * `ServiceError` `failed_precondition` if the same was changed meanwhile, and with `StoreError` if it cannot be recorded; then
 * nothing is kept.
 */
export async function offerStaged(
  staged: ReviewableRun,
  { decided, context, title, by, agent, ledger, choose, ...options }: OfferOptions,
): Promise<Offer> {
  let isOpen = true;
  try {
    context.signal.throwIfAborted();
    const { parts, digest } = staged;
    const judge = async (some: readonly FoundPart[]) => {
      const found = { statement: `Keep what \`${title}\` changed`, parts: some, operands: { changes: digest } };
      return (await decideFound(found, decided, context, options)).verdict;
    };
    const verdict = staged.effects.length === 0 ? ({ type: "allow" } as const) : await judge(parts);
    const against = await judgeParts(parts, verdict, judge);
    const offer: Offer = {
      verdict: verdict.type,
      changes: parts.map((part) => {
        const said = against.get(part);
        const { rule = "", reason = "" } = said?.finding ?? {};
        const { id, needs, name, effects } = part;
        const what = whatWasDone(effects);
        return { id, needs, name, what, verdict: said?.type ?? "allow", rule, reason, ignored: isIgnored(effects) };
      }),
      neverKept: shortened(staged.left),
      diff: staged.diff(),
    };
    const chosen = await choose(offer, () => staged.proposed());
    context.signal.throwIfAborted();
    if (chosen === undefined) return offer;
    const { dropped, inPart } = chosen;
    await using kept = await PersonsLedger.open(ledger);
    const named = (isNamed: (id: string) => boolean): readonly string[] =>
      parts.filter(({ id }) => isNamed(id)).map((part) => part.name);
    const what = {
      by,
      title,
      ...(agent === undefined ? {} : { agent }),
      kept: named((id) => !dropped.has(id)),
      ...(inPart === undefined || inPart.size === 0 ? {} : { keptInPart: named((id) => inPart.has(id)) }),
    };
    await kept.record("review", { ...what, dropped: named((id) => dropped.has(id)) });
    isOpen = false;
    const { changes: files } = await staged
      .keep(dropped, { title, inPart })
      .catch((error: unknown) => failedAct(error));
    await kept.record("applied", what, { files });
    return offer;
  } finally {
    if (isOpen) await staged.drop();
  }
}

function shortened(names: readonly string[]): readonly string[] {
  const more = names.length - maxNamed;
  return more > 0 ? [...names.slice(0, maxNamed), `and ${more} more`] : names;
}

function whatWasDone(effects: readonly Effect[]): readonly string[] {
  const words = effects.flatMap((effect) => {
    if (effect.type === "git") return [`${effect.what} ${effect.name}`];
    return effect.type === "write" ? [effect.operation] : [];
  });
  return [...new Set(words)];
}

function isIgnored(effects: readonly Effect[]): boolean {
  return effects.length > 0 && effects.every((effect) => effect.type === "write" && effect.found?.ignored === true);
}
