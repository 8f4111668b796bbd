/** Lines of a file, 1-based, both included. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** `FILE`, `FILE:12`, `FILE:12-20` or `FILE:12,20`. A range that ends before it begins, or begins at 0, is undefined. */
export function fileAndLines(
  named: string,
): { readonly file: string; readonly lines: LineRange | undefined } | undefined {
  const [, file = "", first = "", last = first] = /^(.+):(\d+)(?:[-,](\d+))?$/.exec(named) ?? [];
  if (file === "") return { file: named, lines: undefined };
  const lines = { first: Number(first), last: Number(last) };
  return lines.first < 1 || lines.last < lines.first ? undefined : { file, lines };
}
