import { constants } from "node:fs";
import { lstat, open, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { ledgerDirectory } from "@gennai/governance/ledger/ledger-directory";
import { holdRealDirectory } from "@gennai/machine/workspace/files/held-directory";

/**
 * Adds a ledger's file to git's private exclude file unless it is listed: a tracked ledger would block checkouts, and be reset with
 * branches. Does nothing outside of git repositories. Rejects with the file system's error.
 */
export async function excludeFromGit(workspaceRoot: string, name: string): Promise<void> {
  const repository = await findRepository(workspaceRoot);
  if (repository === undefined) return;
  const inside = relative(repository.workTree, workspaceRoot)
    .split(sep)
    .filter((part) => part !== "");
  // Escapes characters that are special in a pattern.
  const pattern = `/${[...inside, ledgerDirectory, name].map((part) => part.replace(/[\\*?[\]!# ]/g, "\\$&")).join("/")}`;

  using directory = holdRealDirectory(repository.commonDirectory, ["info"], { create: true });
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
  directory.check();
  const handle = await open(directory.entry("exclude"), flags | (constants.O_NONBLOCK ?? 0), 0o644);
  try {
    const status = await handle.stat();
    if (!status.isFile() || status.nlink > 1)
      throw new Error(`${repository.commonDirectory}/info/exclude is not a plain file of its own.`);
    const text = await handle.readFile("utf8");
    if (text.split(/\r?\n/).includes(pattern)) return;
    await handle.appendFile(`${text === "" || text.endsWith("\n") ? "" : "\n"}${pattern}\n`);
  } finally {
    await handle.close();
  }
}

async function findRepository(
  workspaceRoot: string,
): Promise<{ readonly workTree: string; readonly commonDirectory: string } | undefined> {
  // If a link replaced the workspace, another repository is meant.
  if ((await realpath(workspaceRoot).catch(() => "")) !== workspaceRoot) return undefined;
  for (let directory = workspaceRoot; ; directory = dirname(directory)) {
    const gitDirectory = await gitDirectoryIn(directory);
    if (gitDirectory !== undefined)
      return { workTree: directory, commonDirectory: await commonDirectoryOf(gitDirectory) };
    if (dirname(directory) === directory) return undefined;
  }
}

/** `.git` is a directory, or a file that names one: worktrees and submodules. */
async function gitDirectoryIn(directory: string): Promise<string | undefined> {
  const path = join(directory, ".git");
  const status = await lstat(path).catch(() => undefined);
  if (status === undefined) return undefined;
  // Git would follow a link to another repository; nothing is written there.
  if (status.isSymbolicLink()) return undefined;
  let gitDirectory = path;
  if (status.isFile()) {
    const named = /^gitdir: (.+?)\r?\n?$/.exec(await readFile(path, "utf8"))?.[1];
    if (named === undefined) return undefined;
    gitDirectory = await realpath(resolve(directory, named)).catch(() => "");
    if (!(await belongsTo(path, gitDirectory))) return undefined;
  }
  // Writes only where git itself would see a repository.
  const head = await stat(join(gitDirectory, "HEAD")).catch(() => undefined);
  return head?.isFile() ? gitDirectory : undefined;
}

/** Whether git made both: a worktree's directory names its `.git` file, and a submodule's is in the repository around it. */
async function belongsTo(file: string, gitDirectory: string): Promise<boolean> {
  const back = await readFile(join(gitDirectory, "gitdir"), "utf8").catch(() => undefined);
  if (back !== undefined) return resolve(gitDirectory, back.trim()) === file;
  for (let around = dirname(dirname(file)); ; around = dirname(around)) {
    if (gitDirectory.startsWith(join(around, ".git", "modules") + sep)) return true;
    if (dirname(around) === around) return false;
  }
}

async function commonDirectoryOf(gitDirectory: string): Promise<string> {
  const text = await readFile(join(gitDirectory, "commondir"), "utf8").catch(() => undefined);
  return text === undefined ? gitDirectory : realpath(resolve(gitDirectory, text.trim()));
}
