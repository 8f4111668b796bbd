import { packedRefs } from "./packed-refs.ts";

/** The value of each ref: an object (hex), or `ref: NAME`. By name, e.g. `refs/heads/main`. */
export type GitRefs = ReadonlyMap<string, string>;

const objectName = "[0-9a-f]{40}(?:[0-9a-f]{24})?";
const looseValue = new RegExp(`^(?:${objectName}|ref: \\S+)$`);

/** Reads `packed-refs`; undefined if git would read it differently, or if a name occurs twice, so that it cannot be judged. */
export function readPackedRefs(text: string): GitRefs | undefined {
  const { refs, isSound } = packedRefs(text);
  const byName = new Map(refs);
  return isSound && byName.size === refs.length ? byName : undefined;
}

/** The value of a loose ref, or of HEAD; undefined for anything else. */
export function readLooseRef(text: string): string | undefined {
  const value = text.replace(/\n$/, "");
  return looseValue.test(value) ? value : undefined;
}
