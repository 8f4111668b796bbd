import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** A directory that goes when it is disposed. */
export interface TemporaryDirectory extends AsyncDisposable {
  /** Real absolute path. */
  readonly root: string;
  path(relative: string): string;
  read(relative: string): Promise<string>;
  write(relative: string, content: string | Uint8Array): Promise<void>;
}

export interface TemporaryRepository extends TemporaryDirectory {
  /** Runs git there; resolves with what it printed, without the last line end. */
  git(...args: readonly string[]): Promise<string>;
}

export type Files = Readonly<Record<string, string | Uint8Array>>;

export async function temporaryDirectory(files: Files = {}): Promise<TemporaryDirectory> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "gennai-test-")));
  const directory: TemporaryDirectory = {
    root,
    path: (relative) => join(root, relative),
    read: (relative) => readFile(join(root, relative), "utf8"),
    async write(relative, content) {
      const path = join(root, relative);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
  for (const [relative, content] of Object.entries(files)) await directory.write(relative, content);
  return directory;
}

/**
 * A git repository on `main` with one commit of these files; without files, with no commit.
 * @param options.branch created at that commit, and checked out
 */
export async function temporaryRepository(
  files: Files = {},
  { branch }: { readonly branch?: string } = {},
): Promise<TemporaryRepository> {
  const directory = await temporaryDirectory(files);
  const git = async (...args: readonly string[]) => {
    const { stdout } = await run("git", [...settings, ...args], { cwd: directory.root, env: environment() });
    return stdout.replace(/\n$/, "");
  };
  const key = keyOf(files, branch);
  const template = templates.get(key);
  if (template !== undefined) {
    writeTemplate(directory.root, template);
    return { ...directory, git };
  }
  const steps = [
    "init --quiet --initial-branch main",
    ...(Object.keys(files).length === 0 ? [] : ["add --all", "commit --quiet --message first"]),
    ...(branch === undefined ? [] : [`checkout --quiet -b ${branch}`]),
  ];
  // In one shell: a process as large as a test's starts another one slowly.
  const script = steps.map((step) => `git "$@" ${step}`).join(" && ");
  await run("sh", ["-c", script, "sh", ...settings], { cwd: directory.root, env: environment() });
  templates.set(key, readTemplate(directory.root));
  return { ...directory, git };
}

const run = promisify(execFile);

const settings = [
  ...["user.name=Test", "user.email=test@localhost", "commit.gpgSign=false"],
  // The repository is short-lived: it needs neither maintenance nor durability.
  ...["maintenance.auto=false", "core.fsync=none"],
].flatMap((setting) => ["-c", setting]);

/** A git repository kept in memory, so that copies can be made without starting any process. */
interface RepositoryTemplate {
  /** Relative paths in `.git`, each after the one that it is in. */
  readonly directories: readonly string[];
  readonly files: readonly { readonly path: string; readonly mode: number; readonly content: Buffer }[];
}

/** Bytes of an index's header, of a file's entry before its path, and of the final checksum. */
const [headerBytes, entryBytes, checksumBytes] = [12, 62, 20];

/** Of what this process made already: most tests of a file have the same files, and starting git takes longer than they do. */
const templates = new Map<string, RepositoryTemplate>();

function keyOf(files: Files, branch: string | undefined): string {
  const hash = createHash("sha256").update(JSON.stringify([branch, Object.keys(files)]));
  for (const content of Object.values(files)) hash.update(createHash("sha256").update(content).digest());
  return hash.digest("hex");
}

/** Nothing of the machine's own git configuration. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  return { ...Object.fromEntries(kept), GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
}

/** @param root of a repository that git has just made, and that nothing runs in */
function readTemplate(root: string): RepositoryTemplate {
  const data = join(root, ".git");
  const entries = readdirSync(data, { recursive: true, withFileTypes: true }).map((entry) => ({
    path: join(entry.parentPath, entry.name),
    isDirectory: entry.isDirectory(),
  }));
  const relative = (path: string) => path.slice(data.length + 1);
  return {
    directories: entries.flatMap(({ path, isDirectory }) => (isDirectory ? [relative(path)] : [])).toSorted(),
    files: entries
      .filter(({ isDirectory }) => !isDirectory)
      .map(({ path }) => ({
        path: relative(path),
        mode: lstatSync(path).mode & 0o777,
        content: readFileSync(path),
      })),
  };
}

/** Makes `.git` in a directory that holds the same files as the template's repository did. */
function writeTemplate(root: string, { directories, files }: RepositoryTemplate): void {
  const data = join(root, ".git");
  for (const directory of ["", ...directories]) mkdirSync(join(data, directory), { recursive: true });
  for (const { path, mode, content } of files) {
    writeFileSync(join(data, path), path === "index" ? indexOf(root, content) : content, { mode });
  }
}

/**
 * The index, with the stat data of the files in `root` instead of the template's, so that git need not read them to see that
 * they are unchanged. https://git-scm.com/docs/index-format, version 2
 */
function indexOf(root: string, template: Buffer): Buffer {
  const index = Buffer.from(template);
  if (index.readUInt32BE(4) !== 2) throw new Error("git made an index that is not of version 2.");
  let at = headerBytes;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const pathEnd = index.indexOf(0, at + entryBytes);
    const stat = lstatSync(join(root, index.toString("utf8", at + entryBytes, pathEnd)), { bigint: true });
    const [second, low] = [1_000_000_000n, 0xffff_ffffn];
    const words = [
      ...[stat.ctimeNs / second, stat.ctimeNs % second, stat.mtimeNs / second, stat.mtimeNs % second],
      ...[stat.dev, stat.ino],
    ];
    for (const [place, word] of words.entries()) index.writeUInt32BE(Number(word & low), at + place * 4);
    // Filled up with zeros, at least one, to a multiple of eight.
    at += Math.floor((pathEnd - at + 8) / 8) * 8;
  }
  const end = index.length - checksumBytes;
  createHash("sha1").update(index.subarray(0, end)).digest().copy(index, end);
  return index;
}
