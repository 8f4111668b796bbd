import picomatch, { type PicomatchOptions } from "picomatch";

/** Whether texts match a glob, or one of several. Nothing else starts picomatch: of globs that others write it would not always end. */
export function globMatcher(
  glob: string | readonly string[],
  options: PicomatchOptions = {},
): (text: string) => boolean {
  const match = picomatch(typeof glob === "string" ? ended(glob) : glob.map(ended), options);
  return (text) => match(text);
}

/**
 * Picomatch 4.0.7 steps over the end of a glob that ends in three backslashes or more, and never finds it again (`lib/parse.js`: it
 * compares its place with that of the last character). Two of them are one, written as a class here.
 */
function ended(glob: string): string {
  return glob.replace(/\\{3,}$/, (run) => "[\\\\]".repeat(run.length / 2) + (run.length % 2 === 0 ? "" : "\\"));
}
