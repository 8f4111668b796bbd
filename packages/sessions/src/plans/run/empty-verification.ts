import { analyseCommand } from "@gennai/governance/command/analyse-command";

/** Programs that say or do the same whatever the plan did. */
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

/** True for a command that passes whatever was done, so that its passing proves nothing, e.g. `true` or `echo ok`. */
export function provesNothing(command: string): boolean {
  const { commands, unresolved } = analyseCommand(command, { cwd: "/", home: "/" });
  return unresolved.length === 0 && commands.every(({ name }) => saysNothing.has(name));
}
