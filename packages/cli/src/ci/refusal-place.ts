import { createHash } from "node:crypto";
import type { Refusal } from "./refusals.ts";

/** File with a project's own rules: shown for a refusal that concerns no file, by a built-in rule. */
const ruleFile = ".gennai/rules.yaml";

/** Where in the repository a refusal is shown: at the file that it is about, else at its rule. Relative, with slashes. */
export function placeOf({ path, place }: Refusal): { readonly file: string; readonly line: number } {
  if (path !== undefined) return { file: path, line: 1 };
  const [, file = "", line = ""] = /^(.+):(\d+)$/.exec(place) ?? [];
  // The user's own rules are not in the repository.
  return file === "" || /^[~/\\]|^[a-z]:|\.\./i.test(file)
    ? { file: ruleFile, line: 1 }
    : { file, line: Math.max(1, Number(line)) };
}

/** Most characters that are shown of what was tried: collectors take whole reports of a few megabytes only. */
const maxWords = 1_000;

/** What was tried, and why it did not run. */
export function describeRefusal({ tool, words, reason, rule }: Refusal): string {
  return `${short(words === "" ? tool : `${tool}, ${words}`)}: ${short(reason)} (rule ${rule})`;
}

function short(text: string): string {
  return text.length <= maxWords ? text : `${text.slice(0, maxWords)}…`;
}

/** Equal for repeated attempts of the same call, so that collectors of refusals count it once. */
export function fingerprintOf({ tool, rule, words, path = "", unanswered }: Refusal): string {
  return createHash("sha256")
    .update(JSON.stringify([tool, rule, words, path, unanswered]))
    .digest("hex");
}
