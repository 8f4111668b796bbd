import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import type { CommandLimits } from "@gennai/machine/process/command-limits";
import type { CommandRun } from "@gennai/machine/process/run-command";
import { removeTransaction } from "@gennai/stage/transaction/transaction";
import { type Files, temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { openSandbox } from "#open-sandbox";
import { Stages } from "#stages/stages";

/** A repository, a home and a state directory with secrets in them, and stages over the repository. */
export interface IsolatedWorkspace extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly stateDir: string;
  readonly stages: Stages;
  /** Another server over the same, that remembers what is on disk alone. */
  restarted(): Promise<Pick<IsolatedWorkspace, "run">>;
  /** Nothing of it is kept. */
  run(command: string, options?: RunOptions): Promise<CommandRun>;
}

interface RunOptions {
  readonly cwd?: string;
  readonly timeoutMs?: number;
  readonly limits?: Partial<CommandLimits>;
}

export async function isolatedWorkspace(files: Files = {}): Promise<IsolatedWorkspace> {
  await using parts = new AsyncDisposableStack();
  const workspace = parts.use(await temporaryRepository({ "a.txt": "a\n", ...files }));
  const home = realpathSync(parts.use(await temporaryDirectory()).root);
  const stateDir = realpathSync(parts.use(await temporaryDirectory()).root);
  for (const path of [
    ...[".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", "notes.txt"],
    ...[".cargo/credentials.toml", ".cargo/bin/tool"],
  ]) {
    write(join(home, path), "HOME-SECRET\n");
  }
  write(join(stateDir, "token"), "STATE-SECRET\n");
  const environment = { ...commandEnvironment(process.env), HOME: home, CARGO_HOME: join(home, ".cargo") };
  const open = async (owner: AsyncDisposableStack): Promise<Stages> => {
    const sandbox = await openSandbox({ commands: "staged", stateDir, home, environment, platform: process.platform });
    owner.use(sandbox);
    if (sandbox.state !== "sandboxed") throw new Error(sandbox.reason);
    return owner.use(new Stages({ shell: sandbox.shell, stateDir, home }));
  };
  const runOn = async (
    stages: Stages,
    text: string,
    { cwd = workspace.root, timeoutMs = 10_000, ...rest }: RunOptions = {},
  ): Promise<CommandRun> => {
    const { stage } = await stages.stage(workspace.root, { sha256: "", covers: () => false });
    try {
      return await stage.run({ text, cwd, environment, timeoutMs, ...rest }, { signal: new AbortController().signal });
    } finally {
      await stage.close();
      await removeTransaction(stage.transaction);
    }
  };
  const stages = await open(parts);
  const owned = parts.move();
  return {
    root: workspace.root,
    home,
    stateDir,
    stages,
    run: (command, options) => runOn(stages, command, options),
    restarted: async () => {
      const again = await open(owned);
      return { run: (command, options) => runOn(again, command, options) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
