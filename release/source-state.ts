import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ReleaseError } from "./release-error.ts";

/** From what a release is made. */
export interface SourceState {
  readonly version: string;
  /** Full id of the commit. */
  readonly commit: string;
  /** False: something in the checkout is not committed. */
  readonly clean: boolean;
  /** Of the commit, seconds since 1970: the time of everything in the artefacts. */
  readonly time: number;
}

/** Throws `ReleaseError` when this is no checkout or its manifests do not agree on the version. */
export function sourceState(root: string): SourceState {
  const git = (...args: readonly string[]) => gitOutput(root, args);
  return {
    version: agreedVersion(root),
    commit: git("rev-parse", "HEAD"),
    clean: git("status", "--porcelain", "--untracked-files=all") === "",
    time: Number(git("log", "-1", "--format=%ct")),
  };
}

/** Files that say which version this is; a release in which they differ would lie somewhere. */
const manifests = ["package.json", "packages/cli/package.json", "packages/vscode/package.json"];

/** Throws `ReleaseError` when the files that say it do not agree. */
export function agreedVersion(root: string): string {
  const found = manifests.map((name) => ({ name, version: versionIn(join(root, name)) }));
  const source = readFileSync(join(root, "packages/cli/src/terminal/version.ts"), "utf8");
  found.push({ name: "packages/cli/src/terminal/version.ts", version: /version = "([^"]+)"/.exec(source)?.[1] ?? "" });
  const [first] = found;
  const other = found.find(({ version }) => version !== first?.version);
  if (first === undefined || other !== undefined || !isVersion(first.version)) {
    const list = found.map(({ name, version }) => `  ${name}: ${version}`).join("\n");
    throw new ReleaseError(`The files do not agree on a version like 1.2.3:\n${list}`);
  }
  return first.version;
}

export function isVersion(text: string): boolean {
  return /^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(text);
}

function versionIn(file: string): string {
  const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
  const isManifest = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return isManifest ? String(manifest.version) : "";
}

function gitOutput(root: string, args: readonly string[]): string {
  try {
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new ReleaseError(`A release is made from a git checkout, and git ${args[0]} failed there: ${text}`, {
      cause: error,
    });
  }
}
