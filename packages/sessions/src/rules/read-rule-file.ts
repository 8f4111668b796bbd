import { constants, type Stats, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { checkExamples } from "@gennai/governance/rules/check-examples";
import { compilePatterns, type ReadyPattern } from "@gennai/governance/rules/compile/compile-rules";
import type { RuleFile, RuleLayer, RuleProblem } from "@gennai/governance/rules/compile/rule-set";
import type { SlowPattern } from "@gennai/governance/rules/compile/slow-pattern";
import { floorRulesYaml } from "@gennai/governance/rules/floor-rules";
import { parseRules } from "@gennai/governance/rules/parse-rules";
import { parseStrictYaml, YamlError } from "@gennai/machine/config/strict-yaml";
import { readControlFile, UnreadableFile } from "@gennai/machine/workspace/files/read-control-file";

/** A possible place of a rule file. */
export interface RulePath {
  readonly layer: RuleLayer;
  /** Absolute. */
  readonly path: string;
  /** For people, e.g. `.gennai/rules.yaml`. */
  readonly name: string;
  /** Real path of the workspace, for a file that must not lead out of it. */
  readonly root?: string;
  /** Other programs read this file too. */
  readonly isShared?: true;
  /** A misspelt name that is not read: holds the right name, unless that file exists. */
  readonly meant?: string;
  /** Absolute path of the file that this one replaces: this one is ignored if that one exists. */
  readonly fallbackFor?: string;
}

/** A rule file as it was read. */
export interface LoadedRuleFile {
  /** All usable rules of the file. */
  readonly rules: RuleFile;
  readonly patterns: readonly ReadyPattern[];
  readonly problems: readonly RuleProblem[];
  /** Number of examples run. */
  readonly examples: number;
}

const maxBytes = 1024 * 1024;

/**
 * All possible places of rules for a workspace, in reading order. The user's own are in `$XDG_CONFIG_HOME/gennai/rules.yaml`,
 * or else below the home directory. Without a `.pi/damage-control-rules.yaml` in the workspace, the one in the home directory
 * applies, as in the extension that defines this file.
 *
 * @param place.root real path of the directory from which the workspace's files are read
 */
export function ruleFilePaths(place: {
  readonly root: string;
  readonly home: string;
  readonly configDir?: string | undefined;
}): readonly RulePath[] {
  const { root, home } = place;
  const own = join(place.configDir ?? join(home, ".config"), "gennai", "rules.yaml");
  const [native, wild] = [".gennai/rules.yaml", ".pi/damage-control-rules.yaml"];
  const ownName = own.startsWith(`${home}/`) ? `~${own.slice(home.length)}` : own;
  return [
    { layer: "user", path: own, name: ownName },
    { layer: "user", path: asYml(own), name: asYml(ownName), fallbackFor: own, meant: ownName },
    { layer: "user", path: join(home, wild), name: `~/${wild}`, isShared: true, fallbackFor: join(root, wild) },
    { layer: "project", path: join(root, native), name: native, root },
    {
      layer: "project",
      path: join(root, asYml(native)),
      name: asYml(native),
      root,
      fallbackFor: join(root, native),
      meant: native,
    },
    { layer: "project", path: join(root, wild), name: wild, isShared: true, root },
  ];
}

function asYml(path: string): string {
  return path.replace(/yaml$/, "yml");
}

/**
 * Reads, parses and checks a rule file. Undefined if it does not exist. Errors become problems, never exceptions, and all
 * usable rules are returned.
 */
export async function readRuleFile(
  at: RulePath,
  slow: SlowPattern,
  options: { readonly signal: AbortSignal },
): Promise<LoadedRuleFile | undefined> {
  let text: string;
  try {
    text = at.root === undefined ? await readUserFile(at) : await readControlFile(at.root, at.name, maxBytes);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const message =
      error instanceof UnreadableFile ? error.message.replace(`${at.name}: `, "") : `cannot be read (${code})`;
    return failed(at, 1, message);
  }
  if (at.meant !== undefined) return failed(at, 1, `is not read under this name; rename it to ${at.meant}`);
  const parsed = parseRuleText(text, at);
  const examples = await checkExamples(at.name, parsed.patterns, slow, options);
  return { ...parsed, problems: [...parsed.problems, ...examples.problems], examples: examples.checked };
}

/** The same for a text, without running its examples. */
function parseRuleText(text: string, at: Pick<RulePath, "layer" | "name" | "isShared">): LoadedRuleFile {
  try {
    const yaml = parseStrictYaml(text, at.name);
    const parsed = parseRules(yaml.data, {
      layer: at.layer,
      file: at.name,
      isShared: at.isShared,
      lineOf: yaml.lineOf,
    });
    const { patterns, problems } = compilePatterns(parsed.rules);
    const rules = { ...parsed.rules, patterns: patterns.map(({ rule }) => rule) };
    return { rules, patterns, problems: [...parsed.problems, ...problems], examples: 0 };
  } catch (error) {
    if (error instanceof YamlError)
      return failed(at, error.line, error.message.replace(`${at.name}:${error.line}: `, ""));
    throw error;
  }
}

let floor: LoadedRuleFile | undefined;

/** The compiled-in floor: the same for all workspaces, parsed once. Callers run its examples themselves. */
export function floorRules(): LoadedRuleFile {
  floor ??= parseRuleText(floorRulesYaml, { layer: "floor", name: "floor" });
  return floor;
}

/** Changes when the rule file does. Empty if it is missing or ignored. */
export function ruleFileStamp({ path, fallbackFor }: RulePath): string {
  return fallbackFor === undefined || fileStamp(fallbackFor) === "" ? fileStamp(path) : "";
}

function fileStamp(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined
      ? ""
      : `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.mode} ${stat.uid}`;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    return code === "ENOTDIR" ? "" : code;
  }
}

/** The user's own file may be a link, as dotfiles are, but no other user may be able to write it. */
async function readUserFile(at: RulePath): Promise<string> {
  await using handle = await open(at.path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stat = await handle.stat();
  refuseForeign(stat);
  if (stat.size > maxBytes) throw new UnreadableFile(`is larger than ${maxBytes / 1024} KiB; split it`);
  const bytes = await handle.readFile();
  if (bytes.length > maxBytes) throw new UnreadableFile(`is larger than ${maxBytes / 1024} KiB; split it`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableFile("is not UTF-8 text; save it as UTF-8");
  }
}

function refuseForeign(stat: Stats): void {
  if (!stat.isFile()) throw new UnreadableFile("is no regular file");
  const own = process.getuid?.();
  if (own === undefined) return;
  if (stat.uid !== own && stat.uid !== 0) throw new UnreadableFile("belongs to another user; make it your own");
  if ((stat.mode & 0o022) !== 0) throw new UnreadableFile("can be written by others; run chmod go-w on it");
}

function failed(at: Pick<RulePath, "layer" | "name">, line: number, message: string): LoadedRuleFile {
  return {
    rules: { layer: at.layer, file: at.name, patterns: [], paths: [], tools: [], onInvalidRules: undefined },
    patterns: [],
    problems: [{ severity: "error", file: at.name, line, rule: "", message }],
    examples: 0,
  };
}
