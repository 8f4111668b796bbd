import { textWithoutNul } from "@gennai/protocol/diff/utf8-text";
import { type AgentStep, withAgentLines } from "../review/agent-lines.ts";
import { type GitProgram, type GitRun, withOwnIndex } from "./git-program.ts";

/** A file that the agent changed. */
export interface AgentFile {
  /** Relative to the top of the work tree, with forward slashes. */
  readonly path: string;
  /** Oldest first. */
  readonly steps: readonly AgentStep[];
}

export interface AgentsStaged {
  /** Paths that were staged, or committed. */
  readonly files: readonly string[];
  /** Paths of which only the user can tell what belongs together. */
  readonly left: readonly string[];
}

/** One entry of an index; an empty id removes it. */
interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly id: string;
}

const noEntry = "0".repeat(40);

export interface WorkTree {
  readonly git: GitProgram;
  /** The present bytes of a file by its path from the top; undefined: there is none. */
  readonly read: (path: string) => Promise<Uint8Array | undefined>;
}

/**
 * Stages exactly the agent's lines: git's index gets what it has and they, and nothing else. The working tree is not touched, and what
 * its user staged stays.
 */
export async function stageAgents(tree: WorkTree, files: readonly AgentFile[]): Promise<AgentsStaged> {
  const planned = await plan(tree, files, {});
  await update(tree.git, planned.entries, {});
  return { files: planned.entries.map(({ path }) => path), left: planned.left };
}

/**
 * Commits exactly the agent's lines on top of HEAD, with the user's hooks. What they staged stays staged. If git refuses the commit, the
 * index is as before.
 */
export async function commitAgents(
  tree: WorkTree,
  files: readonly AgentFile[],
  message: string,
): Promise<AgentsStaged> {
  const { git } = tree;
  for (const head of ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"]) {
    if (await exists(git, head)) throw new Error("A merge, cherry-pick or revert is under way: finish it first.");
  }
  return withOwnIndex(async (file) => {
    const own = { GIT_INDEX_FILE: file };
    await git(["read-tree", (await exists(git, "HEAD")) ? "HEAD" : "--empty"], { environment: own });
    const onHead = await plan(tree, files, own);
    const onIndex = await plan(tree, files, {});
    // A file whose lines do not fit on both would be committed and then look taken back, or the other way round.
    const left = [...new Set([...onHead.left, ...onIndex.left])];
    const isWhole = ({ path }: Entry) => !left.includes(path);
    const committed = onHead.entries.filter(isWhole);
    if (committed.length === 0) return { files: [], left };
    await update(git, committed, own);
    const staged = onIndex.entries.filter(isWhole);
    const before = await entriesOf(git, {}, staged);
    await update(git, staged, {});
    try {
      await git(["commit", "-q", "-F", "-"], { input: message, environment: own });
    } catch (error) {
      await update(
        git,
        staged.map(({ path }) => before.get(path) ?? { path, mode: "0", id: noEntry }),
        {},
      );
      throw error;
    }
    return { files: committed.map(({ path }) => path), left };
  });
}

type Environment = NonNullable<GitRun["environment"]>;

/** What an index gets, after each text was written into git's objects. */
async function plan(
  { git, read }: WorkTree,
  files: readonly AgentFile[],
  environment: Environment,
): Promise<{ readonly entries: readonly Entry[]; readonly left: readonly string[] }> {
  const present = await entriesOf(git, environment, files);
  const entries: Entry[] = [];
  const left: string[] = [];
  for (const { path, steps } of files) {
    const entry = present.get(path);
    const [onto, now] = [entry && (await textOf(git, entry)), textIn(await read(path))];
    const result = onto === false || now === false ? undefined : withAgentLines(onto, now, steps);
    if (result === undefined || result.type === "apart" || entry?.mode === "120000" || entry?.mode === unmerged) {
      left.push(path);
    } else if (result.type === "gone") entries.push({ path, mode: "0", id: noEntry });
    else if (result.type === "text") {
      const id = await git(["hash-object", "-w", "--stdin", `--path=${path}`], { input: result.text });
      entries.push({ path, mode: entry?.mode ?? "100644", id: id.toString().trim() });
    }
  }
  return { entries, left };
}

const unmerged = "unmerged";

/** The entries of an index at these paths. */
async function entriesOf(
  git: GitProgram,
  environment: Environment,
  files: readonly { readonly path: string }[],
): Promise<ReadonlyMap<string, Entry>> {
  if (files.length === 0) return new Map();
  const paths = files.map(({ path }) => `:(literal,top)${path}`);
  const listed = await git(["ls-files", "-s", "-z", "--full-name", "--", ...paths], { environment });
  const entries = new Map<string, Entry>();
  for (const line of listed.toString().split("\0")) {
    const [, mode = "", id = "", stage = "", path = ""] = /^(\d+) ([0-9a-f]+) (\d)\t(.*)$/s.exec(line) ?? [];
    if (path !== "") entries.set(path, { path, mode: stage === "0" ? mode : unmerged, id });
  }
  return entries;
}

/** A content as it would be in the working tree; false: it is no text. */
async function textOf(git: GitProgram, { path, id, mode }: Entry): Promise<string | false> {
  if (mode === unmerged || mode === "160000") return false;
  return textIn(await git(["cat-file", "--filters", `--path=${path}`, id])) ?? false;
}

function textIn(bytes: Uint8Array | undefined): string | undefined | false {
  return bytes === undefined ? undefined : (textWithoutNul(bytes) ?? false);
}

/** All entries in one step of git's. */
async function update(git: GitProgram, entries: readonly Entry[], environment: Environment): Promise<void> {
  if (entries.length === 0) return;
  const input = entries.map(({ path, mode, id }) => `${mode} ${id}\t${path}\0`).join("");
  await git(["update-index", "-z", "--index-info"], { input, environment });
}

function exists(git: GitProgram, name: string): Promise<boolean> {
  return git(["rev-parse", "--verify", "-q", name]).then(
    () => true,
    () => false,
  );
}
