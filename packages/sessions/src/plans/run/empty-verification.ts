import { analyseCommand } from "@gennai/governance/command/analyse-command";

/** Programs whose result does not depend on what the plan did. */
const saysNothing: ReadonlySet<string> = new Set([
  "true",
  ":",
  "echo",
  "printf",
  "exit",
  "pwd",
  "sleep",
  "date",
  "cd",
  "yes",
]);

/** True for a command that always passes and therefore proves nothing, e.g. `true` or `echo ok`. */
export function provesNothing(command: string): boolean {
  const { commands, unresolved } = analyseCommand(command, { cwd: "/", home: "/" });
  return unresolved.length === 0 && commands.every(({ name }) => saysNothing.has(name));
}
