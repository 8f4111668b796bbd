import { spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { builtProgram } from "@gennai/testkit/built-program";
import { call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect } from "vitest";
import { commandLine, testConsole } from "../../../../packages/cli/test/test-console.ts";

const program = builtProgram(new URL("../../../../packages/cli/src/main.ts", import.meta.url));

/** Passes for a value from 2 on. What git ignores is there, and a secret is not. */
const check = `import fs from "node:fs";
console.log("secret:", fs.existsSync(".env"));
if (!fs.existsSync("node_modules/dep.js") || Number(fs.readFileSync("value.txt", "utf8")) < 2) process.exit(1);
`;

export type Step = Readonly<Record<string, unknown>>;

export function bash(command: string): Step {
  return call("Bash", { command });
}

/** Fetches the value from a service of this machine. */
export function fetched(path: string, port: number): Step {
  return bash(`curl -sS --max-time 20 http://127.0.0.1:${port}/${path} -o value.txt`);
}

/** A repository beside nothing else, and a script for each attempt. */
export async function project(scripts: readonly (readonly Step[])[]) {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const repository = parts.use(
    await temporaryRepository({ "value.txt": "0\n", "check.mjs": check, ".gitignore": "node_modules\n.env\n" }),
  );
  await repository.write("node_modules/dep.js", "1\n");
  await repository.write(".env", "KEY=hunter2\n");
  // Not committed: attempts begin with what the user has.
  await repository.write("mine.txt", "mine\n");
  const models = scripts.map((steps, index) => {
    const file = state.path(`script-${index + 1}.yaml`);
    writeFileSync(file, JSON.stringify({ turns: [{ steps: [...steps, { text: "Done." }] }] }));
    return ["--attempt-model", file];
  });
  const environment = { ...process.env, GENNAI_STATE_DIR: state.path("state"), NO_COLOR: "1" };
  const request = [
    ...["run", "--attempts", String(scripts.length), "--backend", "scripted", "--check", "node check.mjs"],
    ...models.flat(),
  ];
  const run = commandLine(repository.root, environment);
  /** Directories beside the workspace, and stages: nothing, when all has ended. */
  const left = (): readonly string[] => {
    const [parent, name] = [dirname(repository.root), basename(repository.root)];
    const beside = readdirSync(parent).filter((entry) => entry.startsWith(".gennai-attempts-"));
    const own = beside.filter((entry) => existsSync(join(parent, entry, "base", name)));
    const stages = join(state.path("state"), "stages");
    return [...own, ...(existsSync(stages) ? readdirSync(stages) : [])];
  };
  const consoleHere = () => testConsole(repository.root, environment);
  const owned = parts.move();
  return {
    consoleHere,
    repository,
    state,
    environment,
    request,
    run,
    left,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Two attempts in a process of their own, which is ended in the middle. @param code that it ends with, unless it is killed */
export async function leavesNothing(signal: NodeJS.Signals, code?: number): Promise<void> {
  await using place = await project([[bash("echo 2 > value.txt; echo here; sleep 60")], [bash("sleep 60")]]);
  const child = spawn(process.execPath, [program, ...place.request, "wait"], {
    cwd: place.repository.root,
    env: place.environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  await expect.poll(() => said).toContain("here");
  expect(place.left()).not.toEqual([]);
  child.kill(signal);
  const exit = await ended;
  if (code !== undefined) expect(exit).toBe(code);
  expect(await place.repository.read("value.txt")).toBe("0\n");
  // What a killed one left goes with the next command that has to do with it.
  if (code === undefined) {
    const { out } = await place.run("attempts", "list");
    expect(out.match(/attempt \d .* interrupted: It was broken off: the server ended/g)).toHaveLength(2);
    expect((await place.run("try", "true")).code).toBe(0);
  }
  expect(place.left()).toEqual([]);
}
