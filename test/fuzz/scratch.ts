import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Where the parts of a scratch lie for the command that runs in it. */
export const scratchPlaces = { ws: "/ws", home: "/home/dev", tmp: "/tmp" } as const;

const files: Readonly<Record<string, string>> = {
  "ws/a.txt": "a\nb\na\n",
  "ws/b.txt": "b\nc\n",
  "ws/sp ace.txt": "s\n",
  "ws/list": "a.txt\nb.txt\n",
  "ws/src/a.ts": "a\n",
  "ws/src/b.ts": "b\n",
  "ws/docs/n.md": "n\n",
  "home/kept": "k\n",
  "tmp/kept": "k\n",
};

/** A small repository, a home and a temporary directory, made again for every command. */
export class Scratch implements Disposable {
  readonly #base = realpathSync(mkdtempSync(join(tmpdir(), "gennai-fuzz-")));
  readonly #bubblewrap: string;

  constructor(bubblewrap: string) {
    this.#bubblewrap = bubblewrap;
    const template = join(this.#base, "template");
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(template, name)), { recursive: true });
      writeFileSync(join(template, name), text);
    }
    mkdirSync(join(template, "ws", "empty"));
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], { cwd: join(template, "ws") });
    git("init", "--quiet", "--template=", "--initial-branch", "main");
    git("add", "-A");
    git("commit", "--quiet", "-m", "first");
  }

  /** Runs a command under bubblewrap, without network and with nothing else to write to; absolute paths that changed. */
  changesOf(command: string): readonly string[] {
    const run = join(this.#base, "run");
    rmSync(run, { recursive: true, force: true });
    cpSync(join(this.#base, "template"), run, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    const before = snapshot(run);
    const system = ["/usr", "/bin", "/lib", "/lib64", "/etc"].flatMap((path) => ["--ro-bind-try", path, path]);
    const own = Object.entries(scratchPlaces).flatMap(([name, place]) => ["--bind", join(run, name), place]);
    const confined = [
      "--unshare-all",
      "--die-with-parent",
      "--new-session",
      ...system,
      "--proc",
      "/proc",
      "--dev",
      "/dev",
    ];
    const variables = { PATH: "/usr/bin:/bin", HOME: "/home/dev", TMPDIR: "/tmp", GIT_CONFIG_NOSYSTEM: "1" };
    const result = spawnSync(
      this.#bubblewrap,
      [...confined, ...own, "--chdir", "/ws", "timeout", "-s", "KILL", "5", "bash", "-c", command],
      { env: variables, input: "", timeout: 10_000, maxBuffer: 8 << 20 },
    );
    if (/^bwrap:/m.test(result.stderr.toString()))
      throw new Error(`bubblewrap did not run: ${result.stderr.toString()}`);
    const after = snapshot(run);
    return [...new Set([...before.keys(), ...after.keys()])]
      .filter((path) => before.get(path) !== after.get(path))
      .sort();
  }

  [Symbol.dispose](): void {
    rmSync(this.#base, { recursive: true, force: true });
  }
}

/** Kind, mode and content of everything, by its absolute path in the command's world. */
function snapshot(base: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const look = (real: string, shown: string): void => {
    for (const name of readdirSync(real)) {
      const [path, place] = [join(real, name), `${shown}/${name}`];
      const stat = lstatSync(path);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isDirectory()) {
        found.set(place, `directory ${mode}`);
        look(path, place);
      } else if (stat.isSymbolicLink()) found.set(place, `link ${readlinkSync(path)}`);
      else if (stat.isFile())
        found.set(place, `file ${mode} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`);
      else found.set(place, "other");
    }
  };
  for (const [name, place] of Object.entries(scratchPlaces)) look(join(base, name), place);
  return found;
}
