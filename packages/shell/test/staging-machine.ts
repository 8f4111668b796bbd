import { realpathSync } from "node:fs";
import type { UncoveredKey } from "@gennai/egress/keys/login/user-keys";
import { theInternet } from "@gennai/egress/network/way-out";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import type { AllowedEndpoint } from "@gennai/governance/connection";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import type { UsersContents } from "#found/thrown-away";
import { openSandbox } from "#open-sandbox";
import { StagedTree } from "#proposal/staged-tree";
import { type ReviewableRun, runStaged } from "#run/run-staged";
import { Stages } from "#stages/stages";

/**
 * A machine that stages commands over workspaces.
 * @param inHome files of the user's home @param path where programs are looked for @param homeRoot a home to use instead
 * @param named variables that the user named for commands
 * @param stagedBy `copy`: as where no overlay can be mounted
 */
export async function stagingMachine(
  stateRoot?: string,
  inHome: Readonly<Record<string, string>> = {},
  path = process.env["PATH"],
  homeRoot?: string,
  named: Readonly<Record<string, string>> = {},
  stagedBy = process.env["GENNAI_STAGED_BY"],
) {
  await using parts = new AsyncDisposableStack();
  const state = { root: stateRoot ?? parts.use(await temporaryDirectory()).root };
  const home = homeRoot === undefined ? parts.use(await temporaryDirectory(inHome)) : { root: homeRoot };
  const stateDir = realpathSync(state.root);
  const environment = commandEnvironment({ PATH: path, HOME: home.root, ...named }, Object.keys(named));
  const sandbox = parts.use(
    await openSandbox({ commands: "staged", stateDir, home: home.root, environment, platform: "linux" }),
  );
  if (sandbox.state === "unsandboxed") throw new Error(sandbox.reason);
  const stages = parts.use(new Stages({ shell: sandbox.shell, stateDir, home: home.root, outside }));
  const noOverlay = { obstacle: "overlay_refused", reason: "It is a test of copies.", advice: "" } as const;
  if (stagedBy === "copy") stages.support = () => Promise.resolve({ state: "staged", noOverlay });
  const owned = parts.move();
  return {
    stages,
    stateDir,
    home: home.root,
    /** @param session whose layer it sees, and adds to @param allowed what a person let it reach */
    run: (
      workspaceRoot: string,
      text: string,
      confirmed = false,
      session?: string,
      allowed: readonly AllowedEndpoint[] = [],
      key?: UncoveredKey,
      usersContents?: UsersContents,
      isOwnBranch?: (name: string) => boolean,
      onOutput: (text: string) => void = () => undefined,
    ): Promise<ReviewableRun> =>
      runStaged(
        {
          command: analyseCommand(text, { cwd: workspaceRoot, home: home.root, workspace: workspaceRoot }),
          cwd: workspaceRoot,
          timeoutMs: 60_000,
          confirmed,
          key,
        },
        {
          stages,
          zeroAccess: nothing,
          workspaceRoot,
          environment,
          session,
          allowed,
          usersContents,
          isOwnBranch,
          unfinished: async () => StagedTree.open(stateDir, session ?? "", { path: workspaceRoot }),
        },
        { signal: new AbortController().signal, onOutput },
      ),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Servers of tests stand in for other programs', though they are of the process that no command reaches. */
const outside = { ...theInternet, isOwn: () => false };

const nothing = { sha256: "", covers: () => false };
