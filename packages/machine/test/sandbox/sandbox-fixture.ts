import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Files, temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { commandEnvironment } from "#process/environment/command-environment";
import { type CommandRun, holdDirectory, runCommand } from "#process/run-command";
import type { ShellSandbox } from "#sandbox/sandboxed-shell";
import { openSandbox } from "#shell/open-sandbox";

export interface BoxedRun extends CommandRun {
  readonly notes: readonly string[];
}

/** A repository, a home and a state directory with secrets in them, and a sandbox over them. */
export interface SandboxFixture extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly stateDir: string;
  readonly shell: ShellSandbox;
  git(...args: string[]): Promise<string>;
  /** Another sandbox over the same, that remembers what is on disk alone. */
  restarted(): Promise<Pick<SandboxFixture, "run">>;
  run(
    command: string,
    options?: { readonly readsOnly?: boolean; readonly cwd?: string; readonly timeoutMs?: number },
  ): Promise<BoxedRun>;
}

export async function sandboxFixture(files: Files = {}): Promise<SandboxFixture> {
  await using parts = new AsyncDisposableStack();
  const workspace = parts.use(await temporaryRepository({ "a.txt": "a\n", ...files }));
  const home = realpathSync(parts.use(await temporaryDirectory()).root);
  const stateDir = realpathSync(parts.use(await temporaryDirectory()).root);
  for (const path of [
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".config/gh/hosts.yml",
    "notes.txt",
    ".cargo/credentials.toml",
    ".cargo/bin/tool",
  ]) {
    write(join(home, path), "HOME-SECRET\n");
  }
  write(join(stateDir, "token"), "STATE-SECRET\n");
  const environment = { ...commandEnvironment(process.env), HOME: home, CARGO_HOME: join(home, ".cargo") };
  const open = async (owner: AsyncDisposableStack) => {
    const sandbox = await openSandbox({ mode: "required", stateDir, home, environment, platform: process.platform });
    owner.use(sandbox);
    if (sandbox.state !== "sandboxed") throw new Error(sandbox.reason);
    return sandbox.shell;
  };
  const runIn = async (
    shell: ShellSandbox,
    command: string,
    {
      readsOnly = false,
      cwd = workspace.root,
      timeoutMs = 10_000,
    }: NonNullable<Parameters<SandboxFixture["run"]>[1]> = {},
  ): Promise<BoxedRun> => {
    const boxed = shell.prepare(command, { workspaceRoot: workspace.root, cwd, readsOnly });
    try {
      const run = await runCommand(
        { argv: boxed.argv, opens: boxed.opens, cwd: holdDirectory(cwd), env: environment, timeoutMs },
        { signal: new AbortController().signal },
      );
      return { ...run, notes: boxed.finish() };
    } finally {
      boxed.finish();
    }
  };
  const shell = await open(parts);
  const owned = parts.move();
  return {
    root: workspace.root,
    home,
    stateDir,
    shell,
    git: (...args) => workspace.git(...args),
    run: (command, options) => runIn(shell, command, options),
    restarted: async () => {
      const again = await open(owned);
      return { run: (command, options) => runIn(again, command, options) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
