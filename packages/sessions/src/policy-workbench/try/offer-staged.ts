import type { Effect } from "@gennai/governance/effect";
import type { Decided } from "@gennai/governance/gate/admitted-call";
import type { DecideOptions } from "@gennai/governance/gate/decide/decide-call";
import { decideFound } from "@gennai/governance/gate/found/decide-found";
import { judgeParts } from "@gennai/governance/gate/found/judge-parts";
import type { CallContext, FoundPart } from "@gennai/governance/tool";
import type { StagedOffer } from "@gennai/machine/staged-shell/run/run-staged";
import type { PersonsLedgerOptions } from "@gennai/store/ledger/persons-ledger";
import { keepChosen } from "./keep-chosen.ts";
import { asServiceError } from "./staged-failure.ts";

/** Staged changes as they are shown to a person, who chooses. They are not true yet. */
export interface Offer {
  /** What rules say of all of them together. */
  readonly verdict: "allow" | "ask" | "deny";
  readonly changes: readonly TriedChange[];
  /** Files that are never kept, each with the reason. */
  readonly neverKept: readonly string[];
  /** Of the files: a unified diff, shortened. */
  readonly diff: string;
}

/** What is kept or dropped as a whole, e.g. one file, or a directory that git ignores. */
export interface TriedChange {
  /** Lower-case hex. */
  readonly id: string;
  /** Ids of changes without which this one cannot be kept. */
  readonly needs: readonly string[];
  readonly name: string;
  /** What was done, e.g. `create`, `ref refs/tags/v1`. */
  readonly what: readonly string[];
  readonly verdict: "allow" | "ask" | "deny";
  /** Empty for what is allowed. */
  readonly rule: string;
  readonly reason: string;
  /** Git ignores all of it: no diff shows it, and programs of the workspace's user run it. */
  readonly ignored: boolean;
}

export interface OfferOptions extends Omit<DecideOptions, "tools"> {
  /** The call that the changes are judged as. */
  readonly decided: Decided;
  readonly context: CallContext;
  /** What it is, as it is recorded and taken back, e.g. the command. */
  readonly title: string;
  /** How it came about, e.g. `try`. */
  readonly by: string;
  /** Another agent that did it. */
  readonly agent?: string;
  /** Where it is recorded what is kept. */
  readonly ledger: PersonsLedgerOptions;
  /** Which of the changes shall be dropped, by id; undefined: all of them. */
  readonly choose: (offer: Offer) => Promise<ReadonlySet<string> | undefined>;
}

/** Names of files that are never kept. */
const maxNamed = 100;

/**
 * Has staged changes judged as in a session, and drops them, but for what is chosen. Rejects with the signal's reason, with
 * `ServiceError` `failed_precondition` where somebody else changed the same meanwhile, and with `StoreError` where it cannot be
 * recorded; nothing is kept then.
 */
export async function offerStaged(
  staged: StagedOffer,
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
    const dropped = await choose(offer);
    context.signal.throwIfAborted();
    if (dropped === undefined) return offer;
    const keep = async (without: ReadonlySet<string>, name: string) => {
      isOpen = false;
      return (await staged.keep(without, name).catch(asServiceError)).changes;
    };
    await keepChosen({ title, by, agent, parts, dropped, keep }, ledger);
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
