import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Outside, theInternet } from "@gennai/egress/network/way-out";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { eventOf, runTurn } from "../../rpc/session-client.ts";

/**
 * A server that stages commands; each turn runs one of them.
 * @param more.inputs what is said to have each of them run; without it they run in order
 */
export function staging(
  commands: readonly string[],
  files: Readonly<Record<string, string>> = {},
  args: { readonly timeout_ms?: number } = {},
  { inputs, ...more }: { readonly outside?: Outside; readonly inputs?: readonly string[] } = {},
): Promise<TestServer> {
  return startTestServer({
    files: { ".gitignore": "node_modules\n*.private\n", "package.json": packageJson, ...files },
    script: commands.map((command, index) => ({
      ...(inputs === undefined ? {} : { match: `^${inputs[index]}$` }),
      steps: [call("Bash", { ...args, command }), { text: ["Done."] }],
    })),
    server: { commands: "staged", outside: { ...theInternet, isOwn }, ...more },
  });
}

/** Servers of tests represent other programs', although they are in the process that no command reaches. */
const isOwn = (): boolean => false;

const packageJson = '{ "scripts": { "test": "node test.mjs" }, "version": "1.0.0" }\n';

/** A program that nobody knows, which does this. */
export function program(text: string): Readonly<Record<string, string>> {
  return { "do.mjs": `import fs from "node:fs"; import { execSync } from "node:child_process"; ${text}\n` };
}

/** What commands left in stages: nothing, once they have ended. The mounts for the next one may wait. */
export function leftovers(server: TestServer): readonly string[] {
  const stages = join(server.stateDir, "stages");
  const parts = (existsSync(stages) ? readdirSync(stages) : []).flatMap((stage) => [
    join(stages, stage, "root-0", "upper"),
    join(stages, stage, "root-0", "old"),
  ]);
  return parts.filter((part) => existsSync(part) && readdirSync(part).length > 0);
}

/** Runs the next of the commands. */
export async function result(server: TestServer, sessionId: string, input = "go") {
  const events = await runTurn(server, sessionId, input);
  return { events, ...eventOf(events, "toolResult") };
}
