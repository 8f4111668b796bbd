import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { partsOf, partsOnPage, wholeRunPage } from "../../scripts/lib/tests/whole-run.mjs";
import { withVersion } from "../set-version.ts";
import type { Gate } from "./gate.ts";
import { Steps } from "./steps.ts";

/** The long tests passed, too, over what is released. */
export const wholeRunGate: Gate = {
  name: "whole-run",
  title: "All tests, the long ones too, passed over this commit, or over one that differs in pages and version alone.",
  timeoutMs: 60_000,
  async run({ root, doing }) {
    const steps = new Steps(doing);
    await steps.check("the last whole run", () => {
      const parts = partsOnPage(readFileSync(join(root, wholeRunPage), "utf8"));
      const missing = partsOf(root).filter((name) => parts.every((part) => part.name !== name));
      if (missing.length > 0) throw new Error(`${wholeRunPage} does not have ${again(missing)}`);
      for (const [commit, ofCommit] of Map.groupBy(parts, (part) => part.commit)) {
        const names = ofCommit.map(({ name }) => name);
        if (!knows(root, commit))
          throw new Error(`This checkout does not know the commit ${commit} of ${again(names)}`);
        const changed = changedSince(root, commit);
        if (changed.length > 0) {
          throw new Error(`${changed.slice(0, 5).join(", ")} changed since ${commit}, the commit of ${again(names)}`);
        }
      }
      return `${parts.length} parts`;
    });
    return steps.findings();
  },
};

/** Parts, and how they run again. */
function again(parts: readonly string[]): string {
  return `${parts.slice(0, 5).join(", ")}${parts.length > 5 ? " and others" : ""}: npm test -- --all`;
}

/**
 * The files that are not as they were at a commit, without pages of the documentation, and without those in which only the version
 * of the release is another.
 */
function changedSince(root: string, commit: string): readonly string[] {
  const git = (...args: readonly string[]) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
  const versionAt = (at: string) => /"version": "([^"]+)"/.exec(git("show", `${at}:package.json`))?.[1] ?? "";
  const [before, after] = [versionAt(commit), versionAt("HEAD")];
  const lines = git("diff", "--name-status", "--no-renames", "-z", commit, "HEAD").split("\0");
  const changes = lines.flatMap((status, index) =>
    index % 2 === 0 && status !== "" ? [[status, lines[index + 1] ?? ""] as const] : [],
  );
  return changes.flatMap(([status, name]) => {
    if (/^(docs\/.*|[^/]+\.md)$/.test(name)) return [];
    const isVersion =
      status === "M" &&
      withVersion(name, git("show", `${commit}:${name}`), { current: before, next: after }) ===
        git("show", `HEAD:${name}`);
    return isVersion ? [] : [name];
  });
}

function knows(root: string, commit: string): boolean {
  return spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root }).status === 0;
}
