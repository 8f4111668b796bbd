import { mkdtemp, readdir } from "node:fs/promises";
import { quotedCommand } from "@gennai/governance/command/shell-words";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import type { Stage } from "@gennai/stage/stage";
import type { StagedCommand } from "@gennai/stage/staged-command";

/** The `/tmp` of one run that has a way out or a login; disposing removes it. */
export interface FreshTemporary extends AsyncDisposable {
  readonly directory: string;
  /**
   * Later commands find in their `/tmp` what the run left. Call it when the run has ended.
   * @returns files with content that they do not find, below `/tmp`
   */
  passOn(): Promise<readonly string[]>;
}

/** Variables that keep programs from taking compiled code for the source that it claims to be. */
export const noCompiledCode: Readonly<Record<string, string>> = {
  NODE_DISABLE_COMPILE_CACHE: "1",
  PYTHONDONTWRITEBYTECODE: "1",
  // Python looks nowhere else for what it compiled; this directory of the empty `/tmp` does not exist.
  PYTHONPYCACHEPREFIX: "/tmp/.compiled",
};

/** Where a run that copies sees the directory that it copies from. */
const source = "/run/gennai-temporary";

/**
 * An empty `/tmp`, with only those of the files that earlier commands left which the command names. What programs read there unasked,
 * such as compiled code, could be anybody's.
 *
 * @param options.text of the command that will run there
 * @param options.environment for programs that copy
 */
export async function freshTemporary(
  stage: Pick<Stage, "run" | "temporary">,
  { text, ...like }: Pick<StagedCommand, "text" | "environment" | "timeoutMs">,
  { signal }: { readonly signal: AbortSignal },
): Promise<FreshTemporary> {
  const directory = await mkdtemp(`${stage.temporary}-`);
  // Copied on the stage: a link there leads nowhere that a command could not read or write itself.
  const copy = async (script: string, from: string, to: string): Promise<string> => {
    const mounts = [{ path: source, source: from }];
    const run = await stage.run({ ...like, text: script, cwd: "/", mounts, temporary: to, offline: true }, { signal });
    return run.output;
  };
  const names = namedIn(text);
  const hasAny = names.length > 0 && (await readdir(stage.temporary)).length > 0;
  if (hasAny) await copy(`${copyNamed} ${quotedCommand(names)}`, stage.temporary, directory);
  return {
    directory,
    passOn: async () => {
      if ((await readdir(directory)).length === 0) return [];
      const lacking = await copy(copyAll, directory, stage.temporary);
      return lacking.split("\n").filter((name) => name !== "");
    },
    [Symbol.asyncDispose]: () => removeTree(directory),
  };
}

/** Paths below `/tmp` in a command's text. */
function namedIn(text: string): readonly string[] {
  const found = [...text.matchAll(/(?<![\w.-])(?:\/var)?\/tmp\/([\w.@%+,/-]*\w)/g)].map(([, path = ""]) => path);
  return [...new Set(found)].filter((path) => !path.split("/").includes(".."));
}

/** Copies its arguments, and makes the directories above them. The workspace may be mounted there: no mode of it is touched. */
const copyNamed = `copy() { cd ${source}; for path; do
  case "$path" in */*) above="\${path%/*}";; *) above=.;; esac
  [ ! -d "$above" ] || mkdir -p "/tmp/$above"
  [ ! -e "$path" ] || cp -RPf "$path" "/tmp/$above/"
done; }; copy`;

/** Copies all, and prints what is not there then. What is empty, as mount points are, nobody will lack. */
const copyAll = `cd ${source}; cp -RPf . /tmp/ 2>/dev/null || find . -type f -size +0 -exec sh -c '
  for path; do cmp -s "$path" "/tmp/$path" || printf "%s\\n" "\${path#./}"; done' sh {} + 2>/dev/null`;
