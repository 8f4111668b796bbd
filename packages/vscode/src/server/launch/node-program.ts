import { execFile } from "node:child_process";
import { readdir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { promisify } from "node:util";

/** Where to search for Node. */
export interface NodePlaces {
  /** `gennai.nodePath`; empty: none was chosen. */
  readonly chosen: string;
  /** Absolute path of the program that this window's extensions run in. */
  readonly host: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** Real absolute paths of all open folders: no program in them is run. */
  readonly folders: readonly string[];
}

/** Absolute path of the first Node that can run the server; if one was chosen, only that is tried. undefined: none can. */
export async function findNode(
  places: NodePlaces,
  runs: (program: string) => Promise<boolean> = runsServer,
): Promise<string | undefined> {
  const { chosen, host } = places;
  if (chosen !== "") return (await runs(chosen)) ? chosen : undefined;
  if (await runs(host)) return host;
  for await (const program of candidates(places)) {
    if ((await isOutside(program, places)) && (await runs(program))) return program;
  }
  return undefined;
}

async function* candidates(places: NodePlaces): AsyncGenerator<string> {
  const { environment, platform } = places;
  const program = platform === "win32" ? "node.exe" : "node";
  const listed = (environment["PATH"] ?? environment["Path"] ?? "").split(delimiter);
  for (const directory of listed) yield join(directory, program);
  for (const [parent, below] of versionPlaces(places)) yield* newestFirst(parent, join(below, program));
  for (const directory of usualPlaces(places)) yield join(directory, program);
}

/** True if a program exists outside of all folders and packages, both by its path and by its real path. */
async function isOutside(program: string, { folders, platform }: NodePlaces): Promise<boolean> {
  if (!isAbsolute(program)) return false;
  const real = await realpath(program).catch(() => undefined);
  if (real === undefined) return false;
  // If case does not matter, another spelling is the same path.
  const plain = (path: string): string => (platform === "linux" ? path : path.toLowerCase());
  const within = (path: string): boolean =>
    folders.some((folder) => plain(path).startsWith(plain(folder.endsWith(sep) ? folder : `${folder}${sep}`)));
  return ![program, real].some((path) => within(path) || /[\\/]node_modules[\\/]/.test(path));
}

/** Directories in which version managers have one directory per version, and where in that the program is. */
function versionPlaces({ home, platform, environment }: NodePlaces): readonly (readonly [string, string])[] {
  if (platform === "win32") return [[environment["NVM_HOME"] ?? join(home, "AppData", "Roaming", "nvm"), ""]];
  return [
    [join(environment["NVM_DIR"] ?? join(home, ".nvm"), "versions", "node"), "bin"],
    [join(home, ".local", "share", "fnm", "node-versions"), join("installation", "bin")],
    [join(home, ".local", "share", "mise", "installs", "node"), "bin"],
    [join(home, ".asdf", "installs", "nodejs"), "bin"],
    [join(home, ".volta", "tools", "image", "node"), "bin"],
  ];
}

function usualPlaces({ platform, environment }: NodePlaces): readonly string[] {
  if (platform === "win32") return [join(environment["ProgramFiles"] ?? "C:\\Program Files", "nodejs")];
  return ["/opt/homebrew/bin", "/usr/local/bin", "/usr/bin", "/snap/bin"];
}

async function* newestFirst(parent: string, below: string): AsyncGenerator<string> {
  const versions = isAbsolute(parent) ? await readdir(parent).catch(() => []) : [];
  const newest = new Intl.Collator("en", { numeric: true });
  for (const version of versions.toSorted((one, other) => newest.compare(other, one))) {
    yield join(parent, version, below);
  }
}

/** What the server needs of Node: its version, and its SQLite. */
const trial = `
const [major, minor] = process.versions.node.split(".").map(Number);
if (!(major > 23 || (major === 23 && minor >= 4) || (major === 22 && minor >= 13))) process.exit(3);
new (require("node:sqlite").DatabaseSync)(":memory:").close();
`;

/** True if the program is a Node that can run the server: it is started to test that. */
export async function runsServer(program: string): Promise<boolean> {
  if (!isAbsolute(program)) return false;
  try {
    await promisify(execFile)(program, ["--no-warnings", "-e", trial], {
      env: serverEnvironment(process.env),
      // The same directory as the server's: files of a folder could choose another version.
      cwd: homedir(),
      timeout: 10_000,
      windowsHide: true,
    });
    return true;
  } catch {
    return false;
  }
}

/** The environment for a program that runs as Node on its own, without what is meant for the editor. */
export function serverEnvironment(environment: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(
    ([name]) => !/^(?:VSCODE_|ELECTRON_|CHROME_|NODE_OPTIONS$)/.test(name),
  );
  // VS Code's own program runs as Node only with this; other programs ignore it.
  return { ...Object.fromEntries(kept), ELECTRON_RUN_AS_NODE: "1" };
}
