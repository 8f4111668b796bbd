import { isWithin } from "@gennai/protocol/is-within";
import { foldPath } from "../../command/words/fold-name.ts";
import type { CommandPath } from "../../command-analysis.ts";
import type { FileWrite, WorkspacePath } from "../../effect.ts";
import type { Policy } from "../../policy.ts";
import { shownNames } from "../../shown-names.ts";
import { allow, ask, deny, strictest, type Verdict } from "../../verdict.ts";
import { type ControlPath, controlGlob, controlPath } from "./control-paths.ts";
import { isMadeByTools } from "./made-by-tools.ts";

/**
 * The agent may not change the workspace's control files or propose changes to them, existing or not: git's data, editor and
 * agent configuration, intents, ledger, tool servers. Files that tools run or obey ask, and so do new files of an unusual kind,
 * because tools may run or obey them: no list names all such files.
 *
 * @param options.directories more protected directories, relative to the workspace, e.g. that of `core.hooksPath`
 * @param options.root real absolute path of the workspace; nothing above it is protected here
 * @param options.entriesIn what is there now; a staged command's changes are not visible yet
 */
export function createControlFilesPolicy(options: {
  readonly root: string;
  readonly entriesIn: EntriesIn;
  readonly directories?: readonly string[];
}): Policy {
  const more = (options.directories ?? [])
    .map((directory) => foldPath(directory).join("/"))
    .filter((directory) => directory !== "");

  const find = (relative: string, pattern: boolean): ControlPath | undefined => {
    const known = pattern ? controlGlob(relative) : controlPath(relative);
    if (known !== undefined) return known;
    const folded = foldPath(relative).join("/");
    return more.some((directory) => isWithin(folded, { directory }))
      ? { level: "protected", what: "a directory of hooks" }
      : undefined;
  };

  const ofPath = (path: WorkspacePath): ControlPath | undefined => {
    const real = path.inside ? find(path.relative, false) : controlPath(path.absolute);
    if (real?.level === "protected") return real;
    // The path as the model wrote it counts too: a link may lead away from the name, but the name was intended.
    return controlPath(withoutRoot(path.raw, options.root)) ?? real;
  };

  const ofCommand = (path: CommandPath, staged: boolean): Verdict => {
    const relative = withoutRoot(path.absolute, options.root);
    const control = find(relative, path.pattern === true);
    if (control === undefined) return allow;
    switch (path.access) {
      case "list":
        return allow;
      case "read":
        // A staged command gets a copy of it without them.
        return !staged && /(?:^|\/)\.git\/(?:.*\/)?config(?:\.worktree)?$/i.test(relative)
          ? ask({
              code: "control_file",
              rule: "control-files/git-config",
              reason: `${path.raw} may hold credentials for a remote.`,
            })
          : allow;
      case "write":
      case "delete":
        // A staged command's change is examined, and asked about, after the run.
        return staged && control.level === "sensitive" ? allow : refuse(path.raw, control);
      case "unknown":
        return control.level === "protected" && !staged ? refuse(path.raw, control) : allow;
    }
  };

  return {
    name: "control-files",
    kind: "guard",
    async decide({ analysis }) {
      const verdicts: Verdict[] = [allow];
      const created: WorkspacePath[] = [];
      for (const effect of analysis.effects) {
        if (effect.type === "write" || effect.type === "propose") {
          const control = ofPath(effect.path);
          // The user sees a proposal before anything is written, so only what is never the agent's is refused.
          const isAgreed = effect.type === "write" && effect.found?.agreed === true;
          if (control !== undefined && !isAgreed && (effect.type === "write" || control.level === "protected")) {
            verdicts.push(refuse(effect.path.raw, control));
          }
          if (control === undefined && !isAgreed && isCreated(effect)) created.push(effect.path);
          if (control === undefined && !isAgreed && effect.type === "write" && effect.operation !== "delete") {
            if (await isOfRepository(effect.path.relative, options.entriesIn)) {
              verdicts.push(refuse(effect.path.raw, { level: "sensitive", what: "what git obeys in a repository" }));
            }
          }
        } else if (effect.type === "external" && !effect.readsOnly) {
          for (const path of effect.paths) {
            const control = ofPath(path);
            if (control !== undefined) verdicts.push(refuse(path.raw, control));
          }
        } else if (effect.type === "exec") {
          if (!effect.command.readsOnly && controlPath(effect.cwd.relative)?.level === "protected") {
            verdicts.push(refuse(effect.cwd.raw, { level: "protected", what: "a directory of control files" }));
          }
          for (const path of effect.command.paths) verdicts.push(ofCommand(path, effect.staged === true));
        }
      }
      return strictest([...verdicts, await ofNew(created, options.entriesIn)]);
    },
  };
}

/** Git takes a directory of any name for a repository's data if a `HEAD` is in it, and runs what its settings and hooks say. */
async function isOfRepository(path: string, entriesIn: EntriesIn): Promise<boolean> {
  const obeyed = /^(?:(.+)\/)?(?:config(?:\.worktree)?|commondir|hooks\/[^/]+)$/i.exec(path);
  return obeyed !== null && (await entriesIn(obeyed[1] ?? "")).some(isHead);
}

/** Git's status shows it as a new file: what git ignores is judged elsewhere. */
function isCreated(effect: FileWrite | { readonly type: "propose" }): boolean {
  return effect.type === "write" && effect.operation === "create" && effect.found?.ignored !== true;
}

async function ofNew(created: readonly WorkspacePath[], entriesIn: EntriesIn): Promise<Verdict> {
  const known = new Map<string, ReturnType<EntriesIn>>();
  const once: EntriesIn = (directory) => {
    const entries = known.get(directory) ?? entriesIn(directory);
    known.set(directory, entries);
    return entries;
  };
  const unusual: string[] = [];
  for (const { inside, relative, absolute } of created)
    if (!inside || (await isUnusualFile(relative, once))) unusual.push(inside ? relative : absolute);
  if (unusual.length === 0) return allow;
  const reason = `Tools may run or obey these new files: ${shownNames(unusual, 5)}.`;
  return ask({ code: "control_file", rule: "control-files/new", reason });
}

function refuse(raw: string, control: ControlPath): Verdict {
  if (control.level === "sensitive") {
    return ask({ code: "control_file", rule: "control-files/sensitive", reason: `${raw} is ${control.what}.` });
  }
  return deny({
    code: "control_file",
    rule: "control-files/protected",
    reason: `Security Policy Violation: ${raw} is ${control.what}, which the agent does not change.`,
    hint: "Ask the user to make this change.",
  });
}

function withoutRoot(path: string, root: string): string {
  return path === root ? "" : path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

/** An entry of a directory. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "other";
}

/** By which git takes a directory for a repository's data. */
function isHead({ name, kind }: DirectoryEntry): boolean {
  return kind !== "directory" && /^head$/i.test(name);
}

/** Entries of a directory, given relative to the workspace; empty where none is. */
type EntriesIn = (directory: string) => Promise<readonly DirectoryEntry[]>;

/** Names that begin with a dot, and start and steer nothing. */
const plainDotNames = /^\.(?:[a-z]*ignore|gitkeep|keep|editorconfig|env\.(?:example|sample|template))$/;

/** Documents and checksums by their names, of which no tool takes instructions. */
const documents =
  /^(?:README|LICEN[CS]E|COPYING|NOTICE|AUTHORS|CONTRIBUTORS|CONTRIBUTING|MAINTAINERS|CHANGELOG|CHANGES|HISTORY|NEWS|CODE_OF_CONDUCT|SECURITY|SUPPORT|GOVERNANCE|ARCHITECTURE|DESIGN|DEVELOPMENT|TESTING|INSTALL|UPGRADING|MIGRATION|ROADMAP|TODO|FAQ)(?:[_-][\w-]+)?(?:(?:\.[\w-]+)?\.md)?$|^(?:SHA|MD|B)\d+SUMS$/;

/** Documents, data, pictures, sounds, fonts and archives; and what fixes the versions of packages. */
const plainEndings =
  /\.(?:md|markdown|txt|rst|adoc|org|tex|pdf|docx?|xlsx?|pptx?|od[tsp]|html?|css|s[ac]ss|less|[ct]sv|jsonl|ndjson|geojson|parquet|bin|dat|(?:db|sqlite3?)(?:-(?:wal|shm|journal))?|po|pot|snap|diff|patch|lock|lockb|png|jpe?g|gif|webp|avif|svg|ico|bmp|tiff?|woff2?|[ot]tf|eot|mp[34]|wav|ogg|web[mv]|mov|zip|t?gz|bz2|xz|zst|tar|7z)$|^(?:package-lock\.json|pnpm-lock\.yaml|go\.sum)$/i;

/** Instructions for agents have such names: `AGENTS.md`, `SKILL.md`. */
const capitalNotes = /^[A-Z][A-Z0-9_.-]*\.md$/;

/** Sources, templates and data of programs: below a top they run only where something names them. */
const sources =
  /\.(?:[cm]?[jt]sx?|vue|svelte|astro|py[iwx]?|ipynb|rbi?|erb|php|p[lm]|t|go|rs|[ch]|cc|[ch]pp|[ch]xx|hh|inl|mm?|swift|kts?|java|scala|groovy|clj[cs]?|cljc|exs?|h?eex|erl|hrl|l?hs|mli?|fs[ix]?|cs|vb|dart|lua|jl|r|rmd|nim|zig|v|cr|d|pas|f\d*|s|asm|sol|sh|bash|zsh|fish|ps1|bat|cmd|sql|graphqls?|gql|proto|thrift|glsl|hlsl|wgsl|vert|frag|hbs|ejs|njk|jinja2?|j2|liquid|mustache|te?mpl|tpl|pug|jade|haml|json[5c]?|mdx|styl|p?css|sss|coffee|map|dot|out|in|golden|expected|stderr|stdout)$/i;

/** In a top, a file is usual if this many are of its kind. */
const usualInTop = 3;

/**
 * Whether a new file is one that tools may run or obey: all that is not known to be ordinary, and of whose kind too few are beside
 * it. A top is the workspace, or a directory with files that tools obey.
 *
 * @param path relative to the workspace, as it is written
 */
async function isUnusualFile(path: string, entriesIn: EntriesIn): Promise<boolean> {
  const [name = "", ...above] = path.split("/").toReversed();
  // What an import names is taken from there first.
  if (/(?:^|\/)node_modules\/(?!\.)/.test(path)) return true;
  if (isMadeByTools(path)) return false;
  if (above.some((part) => part.startsWith("."))) return true;
  if (isPlain(name)) return false;
  if (name.startsWith(".") || capitalNotes.test(name)) return true;
  const entries = await entriesIn(above.toReversed().join("/"));
  const isObeyed = (entry: DirectoryEntry): boolean =>
    isHead(entry) || (!/^head$/i.test(entry.name) && controlPath(entry.name) !== undefined);
  const isTop = above.length === 0 || entries.some(isObeyed);
  // In a top, `x.config.js` is of another kind than `x.js`.
  const ending = isTop ? /(?<=^[^.]+)\..*$/s : /\.[^.]*$/;
  const kindOf = (of: string): string => ending.exec(of.toLowerCase())?.[0] ?? "";
  const kind = kindOf(name);
  const alike = entries.filter((one) => one.kind !== "directory" && !isPlain(one.name) && kindOf(one.name) === kind);
  if (kind === "") return isTop || alike.length < 2;
  return isTop ? alike.length < usualInTop : !sources.test(name) && alike.length === 0;
}

function isPlain(name: string): boolean {
  return documents.test(name) || plainDotNames.test(name) || (plainEndings.test(name) && !capitalNotes.test(name));
}
