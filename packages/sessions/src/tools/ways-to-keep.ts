/** Two ways to keep an ignored file, for a model to tell the user, who chooses one. */
export function waysToKeep(name: string): string {
  return `"Gennai: Keep What Git Ignores" in VS Code, or gennai stage keep ${name} in a terminal`;
}
