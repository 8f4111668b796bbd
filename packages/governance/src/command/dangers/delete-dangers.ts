import { isWithin } from "@gennai/protocol/is-within";
import { findExpression } from "../words/find-expression.ts";
import {
  type DangerRule,
  type FoundDanger,
  type Invocation,
  type Place,
  type Target,
  targetsOf,
} from "../words/invocation.ts";
import { hasOption, operandsOf } from "../words/option-spec.ts";
import { isTemporary } from "../words/temporary-directories.ts";
import { ask, deny, held, loses } from "./danger-rows.ts";

/** Directories that a build or an install makes again: deleting one of them is everyday work, and asks. */
export const regenerable: ReadonlySet<string> = new Set(
  "node_modules dist build out target coverage .cache .turbo .next .nuxt .svelte-kit .parcel-cache .vite .output .angular __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .venv venv .gradle .nyc_output tmp .tmp temp logs _build .eggs bin obj .dart_tool Pods DerivedData storybook-static playwright-report test-results".split(
    " ",
  ),
);

export const deleteDangers: readonly DangerRule[] = [
  {
    rule: "floor/recursive-delete",
    programs: ["rm", "srm"],
    find(invocation, place) {
      const recursive = hasOption(invocation.words, "-r -R --recursive");
      const force = hasOption(invocation.words, "-f --force");
      if (hasOption(invocation.words, "--no-preserve-root"))
        return deny("This switches off the guard of rm for the root directory.");
      const operands = operandsOf(invocation.words);
      // For commands started by find, the rule for find has more information: what it searches for.
      if (/^g?find$/.test(invocation.wrappers.at(-1) ?? "")) return undefined;
      if (recursive && (invocation.appendsInput || (operands.length === 0 && force)))
        return held(deny("This deletes everything that the input names, with all below it."));
      const targets = operands.flatMap((word) => targetsOf(word, invocation, place));
      const found = targets.flatMap((target) => judge(target, { recursive, force }, place) ?? []);
      const refused = found.filter(({ verdict }) => verdict === "deny");
      return refused.find(({ askable }) => askable === undefined) ?? refused[0] ?? found[0];
    },
  },
  {
    rule: "floor/find-delete",
    programs: ["find", "gfind"],
    find(invocation, place) {
      const expression = findExpression(invocation.words);
      const removes = expression.commands.some((command) =>
        command.some((word) => /(?:^|\/)(?:rm|unlink|shred|rmdir)$/.test(word.literal ?? "")),
      );
      if (!expression.deletes && !removes) return undefined;
      const starts = expression.starts.flatMap((word) => targetsOf(word, invocation, place));
      if (
        starts.some(
          (start) => !isWithin(start.absolute, { directory: place.workspace }) && !isTemporary(start.absolute),
        )
      )
        return deny("find would delete outside the workspace.");
      if (!expression.filtered) {
        const everything = deny("find would delete everything it reaches.");
        return isBroad({ ...invocation, words: expression.starts }, place) ? everything : held(everything);
      }
      return ask("find would delete every file that matches.");
    },
  },
  // Of the words without a dash, only the first contains options.
  {
    rule: "floor/archive-escape",
    programs: ["tar", "bsdtar", "gtar"],
    find({ words }) {
      const reason = "tar with absolute names can write anywhere on the disk.";
      const escapes = /^[a-zA-Z]*P[a-zA-Z]*$/.test(words[0]?.literal ?? "") || hasOption(words, "-P --absolute-names");
      return escapes ? held({ verdict: "deny", reason }) : undefined;
    },
  },
];

function judge(
  { absolute, form, word }: Target,
  { recursive, force }: { readonly recursive: boolean; readonly force: boolean },
  place: Place,
): FoundDanger | undefined {
  const { raw, kind } = word;
  // A wildcard at the end covers the whole content of the directory.
  const whole = kind === "glob" ? /^(.*)\/\.?\*{1,2}$/.exec(absolute)?.[1] : undefined;
  if (whole === undefined && !recursive) return undefined;
  if (kind === "dynamic" && /^\*(?:\/[.*]*)?$/.test(form)) {
    return /^\*\/?$/.test(form) && !raw.endsWith("/")
      ? ask(`It is not known what ${raw} names, and so what would be deleted.`)
      : deny(`If ${raw} is empty, this deletes from the root of the disk.`);
  }
  const base = whole === undefined ? absolute : whole || "/";
  const broad = broadName(base, place);
  if (broad !== undefined) return deny(`This deletes ${broad}.`);
  const isInside = isWithin(base, { directory: place.workspace });
  // A workspace may itself lie in a temporary directory: what is in it is work, not scratch.
  if (!isInside && !isTemporary(base)) return deny(`This deletes ${base}, outside the workspace.`);
  if (!recursive) return undefined;
  const isMadeAgain = base
    .slice(place.workspace.length)
    .split("/")
    .some((part) => regenerable.has(part));
  return isInside && force && !isMadeAgain
    ? held(
        loses(
          `A forced recursive delete of ${raw}, which a build does not make again. Delete files with the file tools, or ask the user to do it.`,
        ),
      )
    : ask(`This deletes ${raw} and everything in it.`);
}

function broadName(absolute: string, place: Place): string | undefined {
  if (absolute === "/") return "the whole disk";
  if (absolute === place.home) return "the home directory";
  if (absolute === place.workspace) return "the whole workspace";
  if (absolute === place.cwd) return "the current directory";
  if (isWithin(place.workspace, { directory: absolute })) return "a directory that holds the workspace";
  if (isWithin(place.home, { directory: absolute })) return "a directory that holds the home directory";
  if (/(?:^|\/)\.git(?:\/|$)/i.test(absolute)) return "git's own data";
  return undefined;
}

/** Exported for rules of other families that ask whether a path is as wide as that. */
export function isBroad(invocation: Invocation, place: Place): boolean {
  return operandsOf(invocation.words)
    .flatMap((word) => targetsOf(word, invocation, place))
    .some(({ absolute }) => broadName(absolute.replace(/\/\*+$/, "") || "/", place) !== undefined);
}
