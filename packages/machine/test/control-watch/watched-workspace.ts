import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { agreedControl } from "@gennai/governance/policies/files/agreed-control";
import { type Files, temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { ControlWatch } from "#control-watch/control-watch";
import { commandEnvironment } from "#process/environment/command-environment";
import { plainShell } from "#process/environment/plain-shell";
import { holdDirectory } from "#process/run-command";
import { openSandbox } from "#shell/open-sandbox";
import { runShellCommand, type ShellRun } from "#shell/shell-runner";

/** A repository whose commands are watched as a server's are. */
export interface WatchedWorkspace extends AsyncDisposable {
  readonly root: string;
  readonly stateDir: string;
  readonly watch: ControlWatch;
  git(...args: string[]): Promise<string>;
  write(path: string, text: string): void;
  /** Agrees to `command`, and runs `does` in its place: what a program does beyond its words. */
  run(command: string, does?: string): Promise<ShellRun>;
  /** The same in another working tree. */
  runIn(tree: string, command: string, does?: string): Promise<ShellRun>;
  /** Every control file that is there: its text, or where it leads. */
  control(): Record<string, string>;
}

export async function watchedWorkspace(
  files: Files,
  { sandboxed = true }: { readonly sandboxed?: boolean } = {},
): Promise<WatchedWorkspace> {
  await using parts = new AsyncDisposableStack();
  const repository = parts.use(await temporaryRepository(files));
  const state = parts.use(await temporaryDirectory());
  const environment = { ...commandEnvironment(process.env), GIT_CONFIG_GLOBAL: "/dev/null", HOME: state.root };
  const places = { stateDir: state.root, home: homedir() };
  const sandbox = parts.use(
    await openSandbox({ ...places, mode: sandboxed ? "required" : "off", environment, platform: process.platform }),
  );
  const { watch } = ControlWatch.open(places);
  parts.use(watch);
  const { root } = repository;
  const runIn = (tree: string, command: string, does = command): Promise<ShellRun> =>
    runShellCommand(
      {
        text: does,
        cwd: holdDirectory(tree),
        timeoutMs: 30_000,
        readsOnly: false,
        startsNothing: false,
        agreed: agreedControl(analyseCommand(command, { cwd: tree, home: homedir(), workspace: tree })),
      },
      {
        workspaceRoot: tree,
        environment,
        shellArguments: plainShell,
        sandbox: sandbox.state === "sandboxed" ? sandbox.shell : undefined,
        controlWatch: watch,
      },
      { signal: new AbortController().signal, onOutput: () => {} },
    );
  const owned = parts.move();
  return {
    root,
    stateDir: state.root,
    watch,
    git: (...args) => repository.git(...args),
    write: (path, text) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    run: (command, does) => runIn(root, command, does),
    runIn,
    control: () => treeOf(root),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Files and links below a directory but git's objects, refs and logs. */
export function treeOf(root: string): Record<string, string> {
  const tree: Record<string, string> = {};
  const look = (directory: string): void => {
    for (const name of readdirSync(join(root, directory)).sort()) {
      const path = directory === "" ? name : `${directory}/${name}`;
      if (
        /^\.git\/(?:objects\/..|refs|logs|index|COMMIT_EDITMSG|HEAD|ORIG_HEAD|AUTO_MERGE|[A-Z_]+_(?:HEAD|MSG|MODE|RR))$/.test(
          path,
        )
      )
        continue;
      const stat = lstatSync(join(root, path));
      if (stat.isSymbolicLink()) tree[path] = `-> ${readlinkSync(join(root, path))}`;
      else if (stat.isDirectory()) look(path);
      else
        tree[path] = stat.isFile()
          ? `${(stat.mode & 0o777).toString(8)} ${readFileSync(join(root, path), "utf8")}`
          : "?";
    }
  };
  if (existsSync(root)) look("");
  return tree;
}
