import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { holdDirectory, runCommand } from "@gennai/machine/process/run-command";
import { openSandbox } from "@gennai/shell/open-sandbox";
import { runStaged } from "@gennai/shell/run/run-staged";
import { Stages } from "@gennai/shell/stages/stages";
import type { ShellSandbox } from "@gennai/stage/sandbox/shell-sandbox";
import type { BenchWorld } from "../bench-world.ts";
import type { Reading } from "../table/reading.ts";
import { median } from "../table/statistics.ts";
import { timed } from "../timed.ts";

/** What staging adds to a command. Floors: the same in bubblewrap over the workspace itself, or with nothing around it. */
export async function measureStaged(world: BenchWorld): Promise<readonly Reading[]> {
  await using machine = await StagingMachine.open(world);
  return [
    ...(await smallCommand(world, machine)),
    ...(await largeTree(world, machine)),
    ...(await installation(world, machine)),
  ];
}

/** Milliseconds that a model takes to answer at the very least: the next command finds its shell started and its mounts made. */
const pause = 100;

async function smallCommand(world: BenchWorld, machine: StagingMachine): Promise<readonly Reading[]> {
  const [root, ofBound] = [repository(world), repository(world)];
  await machine.staged(root, nothing);
  const rounds = world.choose(200, 50);
  const above: number[] = [];
  const [bound, staged, behind]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    await sleep(pause);
    bound.push(await machine.bound(ofBound, "true"));
    await sleep(pause);
    staged.push(await machine.staged(root, nothing));
    above.push((staged.at(-1) ?? 0) - (bound.at(-1) ?? 0));
  }
  for (let round = 0; round < rounds; round += 1) behind.push(await machine.staged(root, nothing));
  const floor = median(bound);
  return [
    { name: "staged true", unit: "ms", floor, figure: median(staged), target: { type: "none" } },
    { name: "… above bubblewrap alone", unit: "ms", figure: median(above), target: { type: "most", value: 3 } },
    { name: "… right behind another", unit: "ms", floor, figure: median(behind), target: { type: "none" } },
  ];
}

async function largeTree(world: BenchWorld, machine: StagingMachine): Promise<readonly Reading[]> {
  const files = world.choose(100_000, 20_000);
  const root = repository(world);
  for (let index = 0; index < files; index += 1) {
    const directory = join(root, `d${index % 100}`, `e${index % 1000}`);
    if (index < 1000) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `file-${index}.ts`), `export const value = ${index};\n`);
  }
  execFileSync("git", ["add", "--all"], { cwd: root });
  execFileSync("git", [...asSomebody, "commit", "--quiet", "--message", "files"], { cwd: root });
  const first = await machine.staged(root, nothing);
  const readings: Reading[] = [];
  for (const [command, secret] of [
    ["git status", ""],
    ["git diff", ""],
    // It is more than a command that only reads: there is an overlay.
    ["git status; :", ""],
    ["git status", ".env"],
  ] as const) {
    if (secret !== "") writeFileSync(join(root, secret), "KEY=secret\n");
    const [bare, staged]: [number[], number[]] = [[], []];
    await machine.staged(root, command);
    for (let round = 0; round < world.choose(20, 7); round += 1) {
      bare.push(await timed(() => run("/bin/sh", ["-c", command], { cwd: root })));
      await sleep(pause);
      staged.push(await machine.staged(root, command));
    }
    const name = `${command} in ${files} files${secret === "" ? "" : ", and a secret"}`;
    readings.push({
      name,
      unit: "ms",
      floor: median(bare),
      figure: median(staged),
      target: { type: "ratio", most: 1.3 },
    });
  }
  const name = `first command in ${files} files`;
  return [{ name, unit: "ms", figure: first, target: { type: "most", value: 1000 } }, ...readings];
}

const packages = 200;

async function installation(world: BenchWorld, machine: StagingMachine): Promise<readonly Reading[]> {
  const root = repository(world);
  const sources = world.directory();
  const dependencies: Record<string, string> = {};
  mkdirSync(join(root, "tarballs"));
  for (let number = 0; number < packages; number += 1) {
    const name = `part-${number}`;
    const place = join(sources, name, "package");
    mkdirSync(join(place, "lib"), { recursive: true });
    writeFileSync(join(place, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
    for (let file = 0; file < 25; file += 1)
      writeFileSync(join(place, "lib", `${file}.js`), `exports.n = ${file};\n`.repeat(50));
    execFileSync("tar", ["-czf", join(root, "tarballs", `${name}.tgz`), "package"], { cwd: join(sources, name) });
    dependencies[name] = `file:tarballs/${name}.tgz`;
  }
  writeFileSync(join(root, "package.json"), JSON.stringify({ name: "app", version: "1.0.0", dependencies }));
  const [lock, install] = [
    "npm install --package-lock-only --offline --no-audit --no-fund --cache /tmp/npm",
    "npm ci --offline --no-audit --no-fund --cache /tmp/npm",
  ];
  await machine.bound(root, lock);
  const modules = join(root, "node_modules");
  const [bound, staged]: [number[], number[]] = [[], []];
  await machine.staged(root, install);
  for (let round = 0; round < world.choose(7, 3); round += 1) {
    bound.push(await machine.bound(root, install));
    rmSync(modules, { recursive: true });
    staged.push(await machine.staged(root, install));
  }
  const name = `npm ci of ${packages} packages`;
  return [{ name, unit: "ms", floor: median(bound), figure: median(staged), target: { type: "ratio", most: 1.3 } }];
}

const run = promisify(execFile);
const asSomebody = ["-c", "user.name=Test", "-c", "user.email=test@localhost"];
/** A command that may write, for all that is known. */
const nothing = ":";
const noRules = { sha256: "", covers: () => false };

function repository(world: BenchWorld): string {
  const root = world.directory();
  execFileSync("git", ["init", "--quiet"], { cwd: root });
  writeFileSync(join(root, ".gitignore"), "node_modules\n");
  return root;
}

/** Runs commands on a stage, and over the workspace itself, as the tool for commands has them run. Milliseconds. */
class StagingMachine implements AsyncDisposable {
  readonly #shell: ShellSandbox;
  readonly #stages: Stages;
  readonly #home: string;
  readonly #parts: AsyncDisposableStack;
  readonly #environment = commandEnvironment({ PATH: process.env["PATH"] });

  static async open(world: BenchWorld): Promise<StagingMachine> {
    await using parts = new AsyncDisposableStack();
    const [stateDir, home] = [world.directory(), world.directory()];
    const environment = commandEnvironment({ PATH: process.env["PATH"] });
    const sandbox = parts.use(
      await openSandbox({ commands: "staged", stateDir, home, environment, platform: "linux" }),
    );
    if (sandbox.state === "unsandboxed") throw new Error(sandbox.reason);
    const stages = parts.use(new Stages({ shell: sandbox.shell, stateDir, home }));
    return new StagingMachine({ shell: sandbox.shell, stages, home, parts: parts.move() });
  }

  private constructor(options: {
    readonly shell: ShellSandbox;
    readonly stages: Stages;
    readonly home: string;
    readonly parts: AsyncDisposableStack;
  }) {
    this.#shell = options.shell;
    this.#stages = options.stages;
    this.#home = options.home;
    this.#parts = options.parts;
  }

  /** From the command's text to what it did; nothing of it is kept. */
  async staged(root: string, text: string): Promise<number> {
    const command = analyseCommand(text, { cwd: root, home: this.#home, workspace: root });
    const surroundings = {
      stages: this.#stages,
      zeroAccess: noRules,
      workspaceRoot: root,
      environment: this.#environment,
    };
    const start = performance.now();
    const staged = await runStaged({ command, cwd: root, timeoutMs, confirmed: true }, surroundings, silently);
    const took = performance.now() - start;
    await staged.drop();
    if (staged.run.exitCode !== 0) throw new Error(`${text}: ${staged.run.output}`);
    return took;
  }

  async bound(root: string, text: string): Promise<number> {
    const start = performance.now();
    const { bubblewrap, temporary } = this.#shell.machineFor(root);
    const argv = [
      ...[bubblewrap, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
      ...["--bind", temporary, "/tmp", "--bind", root, root, "--chdir", root, "--", "/bin/bash", "-c", text],
    ];
    const ran = await runCommand({ argv, cwd: holdDirectory(root), env: this.#environment, timeoutMs }, silently);
    const took = performance.now() - start;
    if (ran.exitCode !== 0) throw new Error(`${text}: ${ran.output}`);
    return took;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }
}

const timeoutMs = 600_000;
const silently = { signal: new AbortController().signal, onOutput: () => undefined };
