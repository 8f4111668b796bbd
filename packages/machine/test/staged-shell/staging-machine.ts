import { realpathSync } from "node:fs";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { commandEnvironment } from "#process/command-environment";
import { openSandbox } from "#shell/open-sandbox";
import { runStaged, type StagedShellRun } from "#staged-shell/run-staged";
import { Stages } from "#staged-shell/stages";

/** A machine that stages commands over workspaces. */
export async function stagingMachine(stateRoot?: string) {
  await using parts = new AsyncDisposableStack();
  const state = { root: stateRoot ?? parts.use(await temporaryDirectory()).root };
  const home = parts.use(await temporaryDirectory());
  const stateDir = realpathSync(state.root);
  const environment = commandEnvironment({ PATH: process.env["PATH"] });
  const sandbox = parts.use(
    await openSandbox({ mode: "required", stateDir, home: home.root, environment, platform: "linux" }),
  );
  if (sandbox.state === "unsandboxed") throw new Error(sandbox.reason);
  const stages = parts.use(new Stages({ shell: sandbox.shell, stateDir, home: home.root }));
  const owned = parts.move();
  return {
    stages,
    run: (workspaceRoot: string, text: string, confirmed = false): Promise<StagedShellRun> =>
      runStaged(
        {
          command: analyseCommand(text, { cwd: workspaceRoot, home: home.root, workspace: workspaceRoot }),
          cwd: workspaceRoot,
          timeoutMs: 20_000,
          confirmed,
        },
        { stages, zeroAccess: nothing, workspaceRoot, environment },
        { signal: new AbortController().signal, onOutput: () => undefined },
      ),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

const nothing = { sha256: "", covers: () => false };
