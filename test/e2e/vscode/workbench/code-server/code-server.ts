import { execFile } from "node:child_process";
import { cp, glob, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { announcedServers, type FoundServers } from "@gennai/client/node/announced-servers";
import { type TemporaryDirectory, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { SupervisedProcess } from "../../../process/supervised-process.ts";
import { patience } from "../patience.ts";

/** Where code-server lies. */
export interface CodeServerProgram {
  /** Absolute path of the Node it runs under. */
  readonly node: string;
  readonly entry: string;
}

export interface CodeServer extends AsyncDisposable {
  /** e.g. `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Absolute path of the home directory of all that it starts. */
  readonly home: string;
  /** Absolute path; its `User/settings.json` is read by the workbench as it changes. */
  readonly userData: string;
  /** Absolute path of the state directory in which extensions look for servers of Gennai. */
  readonly gennaiState: string;
  /** What it and its extension hosts wrote last, for people who look why a test failed. */
  report(): Promise<string>;
}

export interface CodeServerOptions {
  /** Absolute paths of unpacked extensions, which it has as if they had been installed. */
  readonly extensions?: readonly string[];
  /** Absolute path of a packaged extension, installed as a user does. */
  readonly vsix?: string | undefined;
  /** Extensions that VS Code brings, besides those that most tests need: each costs every window. */
  readonly builtIn?: "all" | readonly string[] | undefined;
}

/** VS Code's workbench as a web page, over user data and a home directory of its own. Disposing ends it and removes both. */
export async function startCodeServer(
  program: CodeServerProgram,
  { extensions = [], vsix, builtIn = [] }: CodeServerOptions = {},
): Promise<CodeServer> {
  await using parts = new AsyncDisposableStack();
  const home = parts.use(await temporaryDirectory());
  parts.defer(() => endServers(home.path("gennai")));
  await Promise.all(["user/User", "extensions"].map((path) => mkdir(home.path(path), { recursive: true })));
  await writeFile(home.path(".gitconfig"), "[user]\n\tname = Test\n\temail = test@localhost\n");
  if (builtIn !== "all") await linkBuiltIn(program, [...usedBuiltIn, ...builtIn], home.path("built-in"));
  for (const path of extensions) await cp(path, home.path(`extensions/${basename(path)}`), { recursive: true });
  const environment = environmentOf(home);
  const directories = ["--user-data-dir", home.path("user"), "--extensions-dir", home.path("extensions")];
  if (vsix !== undefined) {
    const args = [program.entry, ...directories, "--install-extension", vsix];
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
    "--disable-getting-started-override",
    "--ignore-last-opened",
    ...["--reconnection-grace-time", "5"],
    ...(builtIn === "all" ? [] : ["--vscode-option", `builtin-extensions-dir=${home.path("built-in")}`]),
    // Lets a page run a suite inside the extension host and hear how it ended.
    ...["--vscode-option", "enable-smoke-test-driver"],
  ];
  const server = parts.use(new SupervisedProcess(program.node, args, { cwd: home.root, environment }));
  const url = await server.printed(/HTTP server listening on (http:\/\/[\d.]+:\d+)/, { timeoutMs: patience });
  const owned = parts.move();
  return {
    url,
    home: home.root,
    userData: home.path("user"),
    gennaiState: home.path("gennai"),
    report: async () => [lastOf("code-server", server.output), ...(await lastLogs(home.path("user/logs")))].join("\n"),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Git, themes, and JSON with what is wrong in it. */
const usedBuiltIn = [
  ...["git", "git-base", "javascript", "json", "json-language-features", "markdown-basics", "typescript-basics"],
  ...["theme-defaults", "theme-seti", "theme-solarized-light"],
];

async function linkBuiltIn({ entry }: CodeServerProgram, names: readonly string[], directory: string): Promise<void> {
  await mkdir(directory);
  const brought = join(dirname(entry), "../../lib/vscode/extensions");
  for (const name of names) await symlink(join(brought, name), join(directory, name));
}

/** The logs of the server's own part, of each extension host and of ours in it. */
async function lastLogs(directory: string): Promise<readonly string[]> {
  const wanted = /\/(remoteagent|remoteexthost|Gennai|Git)\.log$/;
  const logs = (await Array.fromAsync(glob(join(directory, "**/*.log")))).filter((path) => wanted.test(path)).sort();
  return Promise.all(
    logs.map(async (path) => lastOf(path.slice(directory.length + 1), await readFile(path, "utf8").catch(String))),
  );
}

const reportedLines = 25;

function lastOf(name: string, text: string): string {
  const lines = text.trimEnd().split("\n").slice(-reportedLines);
  return [`--- ${name}, its end:`, ...lines.map((line) => line.slice(0, 400))].join("\n");
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

/** Ends what uses this state directory, also a server that was just started and has not announced itself. */
export async function endServers(stateDirectory: string): Promise<void> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  for (const name of names) {
    const environment = await readFile(`/proc/${name}/environ`, "utf8").catch(() => "");
    if (!environment.split("\0").includes(`GENNAI_STATE_DIR=${stateDirectory}`)) continue;
    try {
      for (process.kill(Number(name), "SIGTERM"); ; await delay(50)) process.kill(Number(name), 0);
    } catch {
      // It is gone.
    }
  }
}

/** Servers of Gennai that announced themselves there. */
export async function runningServers(stateDirectory: string): Promise<FoundServers["servers"]> {
  return (await announcedServers(stateDirectory)).servers;
}
