import type { CommandAnalysis, SimpleCommand } from "../command-analysis.ts";

/**
 * True for `git switch NAME`, `git switch --create NAME` and `git checkout -b NAME` with nothing beside it: it writes on no
 * branch, carries along what is not committed, and stops where it would overwrite something.
 */
export function onlyMovesToBranch({ commands, unresolved, dangers }: CommandAnalysis): boolean {
  const [command, ...more] = commands;
  if (command === undefined || more.length > 0 || unresolved.length > 0 || dangers.length > 0) return false;
  return moveOf(command)?.plain === true;
}

/** Whether a command has git write the index or commits of the present branch. */
export function commitsHere({ commands }: CommandAnalysis): boolean {
  return commands.some(({ name, words: [verb] }) => name === "git" && verb !== undefined && committing.has(verb));
}

const committing: ReadonlySet<string> = new Set(
  "add am cherry-pick commit merge mv pull rebase reset revert rm stage".split(" "),
);

/** A protected branch that a command switches to before it does more there; undefined if there is none. */
export function branchWrittenAfterMove(
  { commands }: CommandAnalysis,
  protectedBy: (branch: string) => string | undefined,
): string | undefined {
  for (const command of commands.slice(0, -1)) {
    const branch = moveOf(command)?.branch;
    if (branch !== undefined && protectedBy(branch) !== undefined) return branch;
  }
  return undefined;
}

interface BranchMove {
  readonly branch: string;
  /** Its options make it a pure switch. */
  readonly plain: boolean;
}

/** Where a git command moves HEAD; undefined if it does not, or may name a file. */
function moveOf({ name, words, wrappers }: SimpleCommand): BranchMove | undefined {
  if (name !== "git") return undefined;
  const [verb, ...rest] = words;
  if (verb !== "switch" && verb !== "checkout") return undefined;
  const literal = rest.filter((word) => word !== undefined);
  if (literal.length < rest.length) return undefined;
  const options = literal.filter((word) => word.startsWith("-"));
  const names = literal.filter((word) => !word.startsWith("-"));
  const [branch] = names;
  if (branch === undefined || names.length > 1) return undefined;
  const creates = options.some((option) => creating.has(option));
  const known = options.every((option) => creating.has(option) || quiet.has(option));
  // A single name after `checkout` may be a file.
  return { branch, plain: known && wrappers.length === 0 && (verb === "switch" || creates) };
}

const creating: ReadonlySet<string> = new Set(["-c", "--create", "-b"]);
const quiet: ReadonlySet<string> = new Set(["-q", "--quiet"]);

/** The branch that a symbolic ref, `ref: refs/heads/NAME`, leads to; undefined for anything else. */
export function branchOf(ref: string | undefined): string | undefined {
  return ref === undefined ? undefined : /^(?:ref: ?)?refs\/heads\/(.+)$/.exec(ref)?.[1];
}
