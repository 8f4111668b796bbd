import type { FileWrite, FoundTrait, FoundWrite } from "../../effect.ts";
import type { Policy } from "../../policy.ts";
import { shownName, shownNames } from "../../shown-names.ts";
import { allow, ask, strictest, type Verdict } from "../../verdict.ts";
import { isMadeByTools } from "./made-by-tools.ts";

type Found = FileWrite & { readonly found: FoundWrite };

/**
 * Changes by a staged command that are never kept without a user: irreversible ones; files that look like something else; and
 * those of ignored files that are no build product, because no diff shows them and the user's tools run them.
 *
 * @param options.maxDeleted tracked files that a command may delete without a question
 */
export function createFoundWritesPolicy({ maxDeleted = 20 }: { readonly maxDeleted?: number } = {}): Policy {
  return {
    name: "found-writes",
    kind: "guard",
    decide({ analysis }) {
      const writes = analysis.effects.filter(isFound);
      return strictest([allow, ...traits(writes), ofDeleted(writes, maxDeleted), ...ofLost(writes), ofIgnored(writes)]);
    },
  };
}

function isFound(effect: { readonly type: string; readonly found?: FoundWrite }): effect is Found {
  return effect.type === "write" && effect.found !== undefined;
}

const meanings: Readonly<Record<FoundTrait, string>> = {
  "odd-name": "has characters in its name that cannot be seen",
  "case-clash": "differs from another name only by case",
  "set-id": "would run with its owner's rights",
  "leads-outside": "is a link that leads out of the workspace",
  "not-shown": "would be changed where git status does not show it",
  merged: "would be merged with what you saved while the command ran",
  "open-database": "is a database that another program has open",
  "control-target": "is what a file leads to that tools obey",
  "only-in-index": "is to be committed with other content than the file has",
  "nested-repository": "is a repository within the repository",
};

function traits(writes: readonly Found[]): readonly Verdict[] {
  return writes.flatMap(({ path, found }) =>
    found.traits.map((trait) => asked(`found/${trait}`, `${shownName(path.relative)} ${meanings[trait]}.`)),
  );
}

function ofDeleted(writes: readonly Found[], maxDeleted: number): Verdict {
  const deleted = writes.filter(({ operation, found }) => operation === "delete" && found.tracked);
  if (deleted.length <= maxDeleted) return allow;
  return asked("found/many-deleted", `It deletes ${deleted.length} files that git tracks: ${listed(deleted)}.`);
}

function ofLost(writes: readonly Found[]): readonly Verdict[] {
  const lost = writes.filter(
    ({ path, found }) => found.lost === true && !found.agreed && !(found.ignored && isMadeByTools(path.relative)),
  );
  const thrown = writes.filter(({ found }) => found.thrownAway === true && found.lost !== true);
  return [
    ...(thrown.length === 0 ? [] : [asked("found/thrown-away", `It throws away your changes in ${listed(thrown)}.`)]),
    ...(lost.length === 0 ? [] : [asked("found/not-kept", `Undo cannot bring back what was there: ${listed(lost)}.`)]),
  ];
}

function ofIgnored(writes: readonly Found[]): Verdict {
  const hidden = writes.filter(
    ({ path, found }) => found.ignored && found.lost !== true && !found.agreed && !isMadeByTools(path.relative),
  );
  if (hidden.length === 0) return allow;
  return asked("found/ignored", `Git ignores what it changed, so no diff shows it: ${listed(hidden)}.`);
}

function asked(rule: string, reason: string): Verdict {
  return ask({ code: "change_needs_confirmation", rule, reason });
}

function listed(writes: readonly Found[]): string {
  return shownNames(
    writes.map(({ path }) => path.relative),
    5,
  );
}
