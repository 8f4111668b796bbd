import { objectOf } from "../control-watch/is-staged.ts";

/** What git's index, or a commit, holds at one path. */
export interface GitEntry {
  readonly mode: string;
  /** Hex. */
  readonly object: string;
}

/** Whether an object holds these bytes. Git may add lines as other systems end them. */
export function isShown(bytes: Buffer | undefined, entry: GitEntry | undefined): boolean {
  if (bytes === undefined || entry === undefined) return bytes === undefined && entry === undefined;
  const normalised = Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
  return [bytes, normalised].some((each) => objectOf(each, entry.object) === entry.object);
}
