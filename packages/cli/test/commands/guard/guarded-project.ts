import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import * as z from "zod";
import { runCommandLine } from "#command-line";
import { testConsole } from "../../test-console.ts";

/**
 * Has hooks start another program than this test's: one that ends so. A real one is started where a server answers it, and by
 * `npm run guard:real`.
 */
export function hooksStart(directory: string, code: number): Disposable {
  const [, before = ""] = process.argv;
  const program = join(directory, "program.mjs");
  writeFileSync(program, `process.exit(${code});\n`);
  process.argv[1] = program;
  return {
    [Symbol.dispose]: () => {
      process.argv[1] = before;
    },
  };
}

/** A directory with the command line in it, and a home and a state of its own; no server runs, and hooks refuse each call. */
export async function guardedProject() {
  const directory = await temporaryDirectory();
  const root = join(directory.root, "app");
  const environment = { HOME: join(directory.root, "home"), GENNAI_STATE_DIR: join(directory.root, "state") };
  for (const path of [root, environment.HOME]) mkdirSync(path);
  const started = hooksStart(directory.root, 2);
  const settings = join(root, ".claude/settings.local.json");
  const run = async (command: string, input = "", more: NodeJS.ProcessEnv = {}) => {
    const console = testConsole(root, { ...environment, ...more });
    console.input.end(input);
    const code = await runCommandLine(command.split(" "), console);
    return { code, printed: console.printed(), complained: console.complained() };
  };
  return {
    ...directory,
    root,
    environment,
    settings,
    run,
    [Symbol.asyncDispose]: () => {
      started[Symbol.dispose]();
      return directory[Symbol.asyncDispose]();
    },
  };
}

const settingsSchema = z.looseObject({
  hooks: z
    .record(z.string(), z.array(z.looseObject({ hooks: z.array(z.looseObject({ command: z.string() })) })))
    .default({}),
});
export const settingsIn = (path: string) => settingsSchema.parse(JSON.parse(readFileSync(path, "utf8")));
/** By event. */
export const hooksIn = (path: string) => settingsIn(path).hooks;
