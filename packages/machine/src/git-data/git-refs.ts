/** The value of each ref: an object (hex), or `ref: NAME`. By name, e.g. `refs/heads/main`. */
export type GitRefs = ReadonlyMap<string, string>;

const objectName = "[0-9a-f]{40}(?:[0-9a-f]{24})?";
const objectValue = new RegExp(`^${objectName}$`);
const packedRef = new RegExp(`^(${objectName})[ \\t\\r](refs/.+)$`, "i");
const target = new RegExp(`^\\^${objectName}$`, "i");
/** Names that `git check-ref-format` refuses. */
const refused = /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.(?:\/|$)|\.lock(?:\/|$)|\/$/;

/**
 * Reads `packed-refs`, as leniently as git: any white space after an id, and ids in upper case. Undefined if git would read it
 * differently, or if a name occurs twice, so that it cannot be judged.
 *
 * @param text decoded as latin1; the names are not
 */
export function readPackedRefs(text: string): GitRefs | undefined {
  const lines = text.split("\n");
  const head = lines[0]?.startsWith("#") ? lines.shift() : undefined;
  if (lines.pop() !== "" || (head !== undefined && !/^# pack-refs with:[ -~]*$/.test(head))) return undefined;
  const isSorted = head?.split(" ").includes("sorted") === true;
  const refs: (readonly [name: string, id: string])[] = [];
  /** The ref of a tag whose target the next line may name. */
  let above = "";
  for (const line of lines) {
    // Branches are commits, so git never packs a target for them.
    if (above !== "" && !above.startsWith("refs/heads/") && target.test(line)) {
      above = "";
      continue;
    }
    const [, id, name] = packedRef.exec(line) ?? [];
    if (id === undefined || name === undefined || refused.test(name)) return undefined;
    // Git uses binary search then, and does not find misplaced names.
    if (isSorted && name < (refs.at(-1)?.[0] ?? "")) return undefined;
    refs.push([name, id.toLowerCase()]);
    above = name;
  }
  const byName = new Map(refs.map(([name, id]) => [decoded(name), id]));
  return byName.size === refs.length && new Set(refs.map(([, id]) => id.length)).size < 2 ? byName : undefined;
}

/** The value of a loose ref, or of HEAD; undefined for anything else. */
export function readLooseRef(text: string): string | undefined {
  const value = text.replace(/\n$/, "");
  const ref = /^ref: (.+)$/s.exec(value)?.[1];
  return objectValue.test(value) || (ref !== undefined && isRefName(ref)) ? value : undefined;
}

/** Whether git reads a ref of this full name, e.g. `refs/heads/main`. */
export function isRefName(name: string): boolean {
  return name.startsWith("refs/") && !refused.test(name);
}

/** A name in a text of git's that was read as latin1. */
export function decoded(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString();
}
