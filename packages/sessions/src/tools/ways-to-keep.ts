/** Two ways to keep an ignored file, for the model to tell the user, who chooses. */
export function waysToKeep(name: string): string {
  return `"Gennai: Keep What Git Ignores" in VS Code, or gennai stage keep ${name} in a terminal`;
}
