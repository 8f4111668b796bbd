/** For a model, which tells the user: the place that fits is theirs to choose. */
export function waysToKeep(name: string): string {
  return `"Gennai: Keep What Git Ignores" in VS Code, or gennai stage keep ${name} in a terminal`;
}
