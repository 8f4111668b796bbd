import { spawn } from "node:child_process";

/**
 * `spawn` of node, for all of this program. A program that cannot be started never ends this one: who is interested listens to
 * `error`. Throws an error with code `EMFILE` when no descriptor is left.
 */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- All overloads of spawn, which it hands its arguments.
export const startProcess = ((program: string, ...rest: readonly []) => {
  const child = spawn(program, ...rest);
  // Without a listener, a failed start is an uncaught exception.
  child.on("error", () => undefined);
  // Contrary to its type, such a child has no streams at all, and its error comes only in the next tick.
  if (child.stdio === undefined) {
    throw Object.assign(new Error(`No file descriptor is left to start ${program}: raise \`ulimit -n\`.`), {
      code: "EMFILE",
    });
  }
  return child;
}) as typeof spawn;
