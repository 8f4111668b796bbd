import { pathsOf, type WorkspacePath } from "../../effect.ts";
import { type GlobOptions, globMatcher } from "../../glob-matcher.ts";
import { eachEffect, type Policy } from "../../policy.ts";
import { allow, deny, type Verdict } from "../../verdict.ts";

/**
 * The project's own lists of what the agent may reach. A path that a deny glob matches is out; where there is an allow
 * list, so is every path that none of it matches. Directories on the way to an allowed path may be listed.
 *
 * Globs are relative to the workspace; one without a slash matches at any depth, and a match of a directory covers all below it.
 */
export function createPathListsPolicy(lists: {
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[];
}): Policy {
  const denied = matcher(lists.deny);
  const allowed = lists.allow === undefined ? undefined : matcher(lists.allow, { noextglob: true });
  const onTheWay = lists.allow === undefined ? undefined : waysTo(lists.allow);

  const ofPath = (path: WorkspacePath, listing: boolean): Verdict => {
    if (!path.inside) return allow;
    if (denied(path.relative)) return refuse(path, "path-lists/denied", "is on the project's deny list");
    if (allowed === undefined || allowed(path.relative)) return allow;
    if (listing && (path.relative === "" || onTheWay?.(path.relative) === true)) return allow;
    return refuse(path, "path-lists/not-allowed", "is not on the project's allow list");
  };

  return eachEffect("path-lists", (effect) => {
    const listing = effect.type === "list" || effect.type === "search";
    return pathsOf(effect).map((path) => ofPath(path, listing));
  });
}

function refuse(path: WorkspacePath, rule: string, why: string): Verdict {
  return deny({
    code: "path_not_allowed",
    rule,
    reason: `Security Policy Violation: ${path.raw} ${why}.`,
    hint: "Work without this file, or ask the user to change the list.",
  });
}

function matcher(globs: readonly string[], options: GlobOptions = {}): (path: string) => boolean {
  if (globs.length === 0) return () => false;
  // A name has several Unicode forms, which some file systems treat as the same file.
  const match = globIndex(globs.map((glob) => glob.normalize("NFC")).flatMap(anyDepth), options);
  return (path) => {
    const plain = path.normalize("NFC");
    return plain !== "" && (match(plain) || match(`${plain}/`));
  };
}

function anyDepth(glob: string): readonly string[] {
  const plain = glob.replace(/^\.?\//, "").replace(/\/+$/, "");
  const rooted = plain.includes("/") || glob.startsWith("/") ? plain : `**/${plain}`;
  return [rooted, `${rooted}/**`];
}

/** Directories above what an allow glob may match. */
function waysTo(globs: readonly string[]): (path: string) => boolean {
  const ways = globs.flatMap((glob) => {
    const parts = (anyDepth(glob)[0] ?? "").split("/");
    if (parts[0] === "**") return ["**"];
    return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
  });
  return ways.length === 0 ? () => false : globMatcher(ways, { nocase: true, noextglob: true });
}

interface Bucket {
  readonly globs: string[];
  match?: (path: string) => boolean;
}

/**
 * Whether any of many globs matches a path. Tests only those that can match: by their literal directories or, for globs at any
 * depth, by the file name. So a thousand rules for other directories cost nothing. Case-insensitive.
 *
 * @param globs without a leading slash
 */
export function globIndex(globs: readonly string[], options: GlobOptions = {}): (path: string) => boolean {
  const matches = (bucket: Bucket | undefined, path: string): boolean => {
    if (bucket === undefined || bucket.globs.length === 0) return false;
    bucket.match ??= globMatcher(bucket.globs, { ...options, nocase: true });
    return bucket.match(path);
  };
  const always: Bucket = { globs: [] };
  /** By the literal directories that they begin with, and by the literal name behind `**` + "/". */
  const byPrefix = new Map<string, Bucket>();
  const byName = new Map<string, Bucket>();
  for (const glob of globs) {
    const { prefix, name } = keysOf(glob);
    if (prefix !== "") add(byPrefix, prefix, glob);
    else if (name !== "") add(byName, name, glob);
    else always.globs.push(glob);
  }
  return (path) => {
    if (matches(always, path)) return true;
    // By way of upper case: a long s is an s then, as it is for whoever matches in any case.
    const folded = path.toUpperCase().toLowerCase();
    for (let from = 0; from < folded.length; ) {
      const slash = folded.indexOf("/", from);
      const to = slash === -1 ? folded.length : slash;
      if (matches(byPrefix.get(folded.slice(0, to)), path)) return true;
      if (matches(byName.get(folded.slice(from, to)), path)) return true;
      from = to + 1;
    }
    return false;
  };
}

function add(buckets: Map<string, Bucket>, key: string, glob: string): void {
  const bucket = buckets.get(key) ?? { globs: [] };
  bucket.globs.push(glob);
  buckets.set(key, bucket);
}

/** Only stars and question marks are special there: with a brace or a bar, the text before it need not be in the path. */
const plainGlob = /^[a-z0-9 _.\-*?/]+$/i;
/** ASCII alone: nothing else has more than one spelling once it is folded. */
const literal = /^[a-z0-9 _-][a-z0-9 _.-]*$|^\.[a-z0-9 _-][a-z0-9 _.-]*$/i;

function keysOf(glob: string): { readonly prefix: string; readonly name: string } {
  if (!plainGlob.test(glob)) return { prefix: "", name: "" };
  const parts = glob.toLowerCase().split("/");
  const end = parts.findIndex((part) => !literal.test(part));
  const prefix = parts.slice(0, end === -1 ? undefined : end).join("/");
  const [first, second = ""] = parts;
  return { prefix, name: first === "**" && literal.test(second) ? second : "" };
}
