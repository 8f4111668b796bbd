/** The directories above a path with `/`, outermost first: `a`, `a/b`. */
export function directoriesAbove(path: string): readonly string[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
}
