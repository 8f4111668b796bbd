import { controlPath } from "./control-paths.ts";
import { isMadeByTools } from "./made-by-tools.ts";

/** An entry of a directory. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "other";
}

/** By which git takes a directory for a repository's data. */
export function isHead({ name, kind }: DirectoryEntry): boolean {
  return kind !== "directory" && /^head$/i.test(name);
}

/** Entries of a directory, given relative to the workspace; empty where none is. */
export type EntriesIn = (directory: string) => Promise<readonly DirectoryEntry[]>;

/** Names that begin with a dot, and start and steer nothing. */
const plainDotNames = /^\.(?:[a-z]*ignore|gitkeep|keep|editorconfig|env\.(?:example|sample|template))$/;

/** Documents by their names, of which no tool takes instructions. */
const documents =
  /^(?:README|LICEN[CS]E|COPYING|NOTICE|AUTHORS|CONTRIBUTORS|CONTRIBUTING|MAINTAINERS|CHANGELOG|CHANGES|HISTORY|NEWS|CODE_OF_CONDUCT|SECURITY|SUPPORT|GOVERNANCE|ARCHITECTURE|DESIGN|DEVELOPMENT|TESTING|INSTALL|UPGRADING|MIGRATION|ROADMAP|TODO|FAQ)(?:[_-][\w-]+)?(?:(?:\.[\w-]+)?\.md)?$/;

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
export async function isUnusualFile(path: string, entriesIn: EntriesIn): Promise<boolean> {
  const [name = "", ...above] = path.split("/").toReversed();
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
