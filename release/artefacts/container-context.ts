import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ReleaseError } from "../release-error.ts";
import type { SourceState } from "../source-state.ts";
import { tarball } from "./tarball.ts";

/**
 * What a container is built from: the sources of the commit, without what no build needs. Unpack it, and in its directory:
 * `podman build --file deploy/Containerfile .`
 */
export function containerContext(root: string, source: SourceState): Uint8Array {
  if (!existsSync(join(root, "deploy", "Containerfile"))) throw new ReleaseError("There is no deploy/Containerfile.");
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const paths = execFileSync("git", list, { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 }).split("\0");
  const entries = paths
    .filter((path) => path !== "" && !isLeftOut(path) && existsSync(join(root, path)))
    .map((path) => {
      const status = lstatSync(join(root, path));
      if (!status.isFile()) throw new ReleaseError(`${path} is not a plain file: an archive cannot hold it.`);
      return { path, bytes: readFileSync(join(root, path)), executable: (status.mode & 0o100) !== 0 };
    });
  return tarball(entries, source.time);
}

/** Of a test package its manifest goes along: the lock file knows it. */
function isLeftOut(path: string): boolean {
  const isTest = path.startsWith("test/") || /^packages\/[^/]+\/test\//.test(path);
  return (isTest && !path.endsWith("/package.json")) || path.startsWith("docs/pictures/");
}
