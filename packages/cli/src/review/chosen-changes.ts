import { isWithin } from "@gennai/protocol/is-within";
import { closedUnderNeeds } from "@gennai/protocol/model/governance/offered-parts";
import type { TriedChange } from "@gennai/sessions/policy-workbench/offer-staged";

/** What a person said to "keep it?". */
export type KeepAnswer =
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
      return { type: "unclear", message: `Say all, rest, none, or numbers from 1 to ${changes.length}, e.g. 1 3-5.` };
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
