/** A call of a tool, as a step of the scripted model. */
export function call(name: string, args: object) {
  return { tool: { name, args } } as const;
}

/** A call of Bash. */
export function bash(command: string) {
  return call("Bash", { command });
}
