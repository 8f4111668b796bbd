import { type GlobOptions, globMatcher } from "../../glob-matcher.ts";

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
