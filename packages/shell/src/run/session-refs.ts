import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { foldName } from "@gennai/governance/command/words/fold-name";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { RefValues } from "@gennai/machine/git-data/ref-values";
import type { RepositoryPaths } from "@gennai/machine/host/repository-paths";
import { isWithin } from "@gennai/protocol/is-within";
import { stageParts } from "@gennai/stage/transaction/staged-root";
import type { Transaction } from "@gennai/stage/transaction/transaction";

/**
 * Which refs that a command made or moved stay in its session: all that are no branches, unless a person agreed to the command,
 * and branches whose name git or a person could take for something else.
 *
 * @param agreed whether a person agreed that the command changes git's state; `remotes`: only what git notes of remotes
 * @returns a test for absolute paths of the user's
 */
export function staysInSession(
  { writable }: RepositoryPaths,
  { roots }: Transaction,
  agreed: boolean | "remotes",
): (absolute: string) => boolean {
  const git = writable[0] ?? "";
  const root = roots.find(({ path }) => isWithin(git, { directory: path }));
  const left = new RefValues(join(root?.directory ?? "", stageParts.upper, relative(root?.path ?? git, git)));
  const own = new RefValues(git);
  return (absolute) => {
    const inGit = isWithin(absolute, { directory: git }) ? relative(git, absolute) : "";
    const [, name, kind, short] = /^(?:logs\/)?(refs\/([^/]+)(?:\/(.+))?)$/.exec(inGit) ?? [];
    if (name === undefined) return /^(?:(?:ORIG|FETCH|REBASE)_HEAD|AUTO_MERGE)$/.test(inGit);
    // A directory of the user's counts as its content.
    if (statIfPresent(absolute)?.isDirectory() === true) return false;
    if (kind === "remotes" && agreed !== false) return false;
    if (kind !== "heads") return agreed !== true && name !== "refs/stash" && kind !== "bisect";
    if (short === undefined || own.value(name) !== undefined) return false;
    return left.text(name)?.startsWith("ref:") === true || isMistakable(short, git, own);
  };
}

/** Whether a new branch of this name would hide another name, or be hidden by it. */
function isMistakable(name: string, git: string, refs: RefValues): boolean {
  const remotes = join(git, "refs/remotes");
  const known = [...(refs.packed?.keys() ?? [])].map((ref) => /^refs\/remotes\/([^/]+)\//.exec(ref)?.[1]);
  const places = [...ofGit, ...(existsSync(remotes) ? readdirSync(remotes) : []), ...known];
  if (places.includes(name.split("/")[0]) || odd.test(name) || mixed.test(name)) return true;
  const alike = looks(name);
  if (refs.names("refs/heads/").some((ref) => looks(ref.slice("refs/heads/".length)) === alike)) return true;
  return ["refs", "refs/tags", "refs/remotes"].some((kind) => refs.value(`${kind}/${name}`) !== undefined);
}

/** First parts of names that git looks for below `refs/` as well, and usual remotes. */
const ofGit = ["refs", "heads", "tags", "remotes", "origin", "upstream"];
/** What git writes beside HEAD, what it takes for the id of an object, an option, or HEAD. */
const odd =
  /^(?:-.*|@|(?:\w+_)?HEAD|stash|AUTO_MERGE|(?:BISECT|MERGE|NOTES)_\w+|(?:.+-g)?(?:[0-9a-f]{7,64}|(?=.*\d)[0-9a-f]{4,6}))$/;
/** One word in letters of several alphabets that look alike, e.g. a Cyrillic letter in a Latin word. */
const mixed =
  /(?:\p{Script=Latin}[\p{L}\p{M}]*[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]|[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}][\p{L}\p{M}]*\p{Script=Latin})/u;

/** The same for names that a person, or a file system without case, cannot tell apart. */
function looks(name: string): string {
  return name
    .split("/")
    .map((part) => foldName(part.normalize("NFKC")))
    .join("/");
}
