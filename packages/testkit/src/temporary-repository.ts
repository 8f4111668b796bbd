import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type RepositoryTemplate, readTemplate, writeTemplate } from "./repository-template.ts";

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
