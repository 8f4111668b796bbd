import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { type TemporaryDirectory, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { SupervisedProcess } from "../process/supervised-process.ts";

/** Where code-server lies. */
export interface CodeServerProgram {
  /** Absolute path of the Node it runs under. */
  readonly node: string;
  readonly entry: string;
}

export interface CodeServer {
  /** e.g. `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Absolute path; its `User/settings.json` is read by the workbench as it changes. */
  readonly userData: string;
  /** Absolute path of the state directory in which extensions look for servers of Gennai. */
  readonly gennaiState: string;
}

const bootTimeoutMs = 60_000;

export interface CodeServerOptions {
  /** Packaged extensions to install. */
  readonly vsix?: readonly string[];
  /** Workspaces are not trusted until their user says so. */
  readonly workspaceTrust?: boolean;
}

/** VS Code's workbench as a web page, over user data and a home directory of its own. Disposing ends it and removes both. */
export async function startCodeServer(
  program: CodeServerProgram,
  { vsix = [], workspaceTrust = false }: CodeServerOptions = {},
): Promise<CodeServer & AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const home = parts.use(await temporaryDirectory());
  await Promise.all(["user/User", "extensions"].map((path) => mkdir(home.path(path), { recursive: true })));
  await writeFile(home.path(".gitconfig"), "[user]\n\tname = Test\n\temail = test@localhost\n");
  const environment = environmentOf(home);
  const directories = ["--user-data-dir", home.path("user"), "--extensions-dir", home.path("extensions")];
  for (const file of vsix) {
    const args = [program.entry, ...directories, "--install-extension", file];
    await promisify(execFile)(program.node, args, { env: environment, cwd: home.root });
  }
  const args = [
    program.entry,
    ...directories,
    ...["--config", home.path("code-server.yaml")],
    ...["--auth", "none"],
    ...["--bind-addr", "127.0.0.1:0"],
    "--disable-telemetry",
    "--disable-update-check",
    ...(workspaceTrust ? [] : ["--disable-workspace-trust"]),
    "--disable-getting-started-override",
    "--ignore-last-opened",
    ...["--reconnection-grace-time", "5"],
    // Lets a page run a suite inside the extension host and hear how it ended.
    ...["--vscode-option", "enable-smoke-test-driver"],
  ];
  const server = parts.use(new SupervisedProcess(program.node, args, { cwd: home.root, environment }));
  const url = await server.printed(/HTTP server listening on (http:\/\/[\d.]+:\d+)/, { timeoutMs: bootTimeoutMs });
  const owned = parts.move();
  return {
    url,
    userData: home.path("user"),
    gennaiState: home.path("gennai"),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Nothing of the user's own, and no gallery to ask for extensions. */
function environmentOf(home: TemporaryDirectory): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(GIT_|VSCODE_|XDG_|GENNAI_|VITEST|NODE_OPTIONS)/.test(name),
  );
  return {
    ...Object.fromEntries(own),
    HOME: home.root,
    GIT_CONFIG_NOSYSTEM: "1",
    GENNAI_STATE_DIR: home.path("gennai"),
    EXTENSIONS_GALLERY: '{"serviceUrl":"","itemUrl":"","resourceUrlTemplate":"","controlUrl":""}',
  };
}
