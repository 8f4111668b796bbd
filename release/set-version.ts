import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ReleaseError } from "./release-error.ts";
import { agreedVersion, isVersion } from "./source-state.ts";

/**
 * Writes another version into every place that names this one: the manifests, `version.ts`, and pages that show the program's
 * output. Past decisions and versions of formats ("Agent Trace 0.1.0") are not changed. Returns the changed files, relative to
 * `root`, sorted. Throws `ReleaseError` if `next` is no version, or is the present one.
 */
export function setVersion(root: string, next: string): readonly string[] {
  const current = agreedVersion(root);
  if (!isVersion(next)) throw new ReleaseError(`A version is like 1.2.3, not ${JSON.stringify(next)}.`);
  if (next === current) throw new ReleaseError(`The version is ${current} already.`);
  const changed: string[] = [];
  for (const name of trackedFiles(root)) {
    if (replacement(name) === undefined) continue;
    const text = readFileSync(join(root, name), "utf8");
    const replaced = withVersion(name, text, { current, next });
    if (replaced === text) continue;
    writeFileSync(join(root, name), replaced);
    changed.push(name);
  }
  return changed;
}

/** A file's text with another version in each place that names this one. @param name from the root of the checkout */
export function withVersion(
  name: string,
  text: string,
  { current, next }: { readonly current: string; readonly next: string },
): string {
  return replacement(name)?.(text, current, next) ?? text;
}

type Replace = (text: string, current: string, next: string) => string;

function replacement(name: string): Replace | undefined {
  if (/(^|\/)package\.json$/.test(name)) {
    return (text, current, next) => text.replace(`"version": "${current}"`, `"version": "${next}"`);
  }
  if (name === "packages/cli/src/terminal/version.ts")
    return (text, current, next) => text.replace(`"${current}"`, `"${next}"`);
  const isPage = /^(README|CONTRIBUTING)\.md$/.test(name) || /^docs\/(?!decisions\/|reference\/).*\.md$/.test(name);
  return isPage ? inPage : undefined;
}

/** Lines about the format Agent Trace name its version. */
const inPage: Replace = (text, current, next) => {
  const whole = new RegExp(String.raw`(?<![\d.])${current.replaceAll(".", "\\.")}(?![\d.]*\d)`, "g");
  const lines = text.split("\n");
  return lines.map((line) => (line.includes("Agent Trace") ? line : line.replaceAll(whole, next))).join("\n");
};

function trackedFiles(root: string): readonly string[] {
  const list = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  return list.split("\0").filter((name) => name !== "");
}
