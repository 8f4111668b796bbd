import { matchesGlob, posix } from "node:path";
import { startTestServer } from "@gennai/testkit/test-server";
import type { RecordedCall } from "../recorded/recorded-calls.ts";
import type { Score } from "../score/score.ts";
import { playTurn } from "./played-turn.ts";

interface Search {
  readonly pattern: string;
  readonly glob?: string;
  readonly "-i"?: boolean;
}

const answersAtOnce = 20;

/** Searches of recorded calls that JavaScript can make as well: their patterns mean the same there. */
export function recordedSearches(calls: readonly RecordedCall[]): readonly Search[] {
  const searches = calls.flatMap(({ ours }): Search[] => {
    if (ours === undefined || !/^grep$/i.test(ours.tool)) return [];
    const { pattern, glob, "-i": ignoreCase } = ours.input;
    if (typeof pattern !== "string" || !hasOneMeaning(pattern)) return [];
    const inFiles = typeof glob === "string" && /^[\w*./-]+$/.test(glob) ? { glob } : {};
    return [{ pattern, ...inFiles, ...(ignoreCase === true ? { "-i": true } : {}) }];
  });
  return [...new Map(searches.map((search) => [JSON.stringify(search), search])).values()];
}

/** Plays them by Grep on a tree, and compares the files that it names with those that hold a match by JavaScript. */
export async function playSearches(
  tree: ReadonlyMap<string, Buffer>,
  searches: readonly Search[],
  score: Score,
): Promise<void> {
  await using server = await startTestServer({ files: Object.fromEntries(tree), steps: [{ text: "Nothing." }] });
  const texts = new Map([...tree].map(([path, bytes]) => [path, bytes.toString("utf8")]));
  for (let at = 0; at < searches.length; at += answersAtOnce) {
    const some = searches.slice(at, at + answersAtOnce);
    const call = (search: Search) => ({ name: "Grep", args: { ...search, head_limit: 10_000 } });
    const [results = []] = await playTurn(server, [some.map(call)]);
    for (const [index, search] of some.entries()) {
      const { outcome = "failed", why = "no result", output = "" } = results[index] ?? {};
      const example = JSON.stringify(search);
      if (outcome !== "accepted") {
        score.add(outcome, { why, example });
        continue;
      }
      const wanted = filesWithMatch(texts, search);
      const named = new Set(output.split("\n").filter((line) => texts.has(line)));
      const identical = wanted.size === named.size && wanted.isSubsetOf(named);
      const [lost] = wanted.symmetricDifference(named);
      score.add("accepted", {
        identical,
        ...(identical ? {} : { why: "other files than JavaScript finds", example: `${example} ${lost}` }),
      });
    }
  }
}

function filesWithMatch(texts: ReadonlyMap<string, string>, { pattern, glob, "-i": ignoreCase }: Search): Set<string> {
  const expression = new RegExp(pattern, ignoreCase === true ? "i" : "");
  const inGlob = (path: string): boolean =>
    glob === undefined || matchesGlob(glob.includes("/") ? path : posix.basename(path), glob);
  const found = [...texts].filter(
    ([path, text]) => inGlob(path) && text.split(/\r?\n/).some((line) => expression.test(line)),
  );
  return new Set(found.map(([path]) => path));
}

/** Only the usual escapes, no groups with a question mark, no counts: what both read in the same way. */
function hasOneMeaning(pattern: string): boolean {
  if (/\\[^sdwbSDWB.()[\]{}|*+?^$\\/"-]|\(\?|\[\[|\n/.test(pattern)) return false;
  if (/[{}]/.test(pattern.replaceAll(/\\./g, ""))) return false;
  try {
    return new RegExp(pattern).source !== "";
  } catch {
    return false;
  }
}
