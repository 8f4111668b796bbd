import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "@gennai/testkit/listening";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";

/** Absolute path of the checkout. */
export const repository = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");

/** An empty home for one page, with a `npm` and a `gennai` that start Gennai as it was built. */
export interface PageHost extends AsyncDisposable {
  /** Absolute path. */
  readonly home: string;
  /** A copy of the repository, with what is installed and built. */
  readonly checkout: string;
  readonly environment: NodeJS.ProcessEnv;
  /** The page's words with this home's paths and ports. */
  toReal(text: string): string;
  /** What came, in the page's words. */
  toShown(text: string): string;
}

/** Ports that pages name; each page gets free ones in their place. */
const shownPorts = ["7777", "7801", "7802", "8797", "4222"];

export async function makePageHome(): Promise<PageHost> {
  const directory = await temporaryDirectory();
  const home = directory.path("home");
  const programs = directory.path("bin");
  const temporary = directory.path("tmp");
  for (const path of [home, programs, temporary]) await mkdir(path);
  const ports = await Promise.all(shownPorts.map(async (shown) => [shown, String(await freePort())] as const));
  const [, port = "0"] = ports.find(([shown]) => shown === "7777") ?? [];
  for (const [name, text] of Object.entries(programsOf(port))) {
    await writeFile(join(programs, name), text);
    await chmod(join(programs, name), 0o755);
  }
  await writeFile(join(home, ".gitconfig"), "[user]\n\tname = You\n\temail = you@example.org\n");
  const checkout = join(home, "gennai");
  await copyCheckout(checkout);
  const places = [["/home/you", home], ["/tmp", temporary], ...ports] as const;
  const path = [programs, join(repository, "node_modules", ".bin"), process.env["PATH"] ?? ""].join(":");
  return {
    home,
    checkout,
    environment: { PATH: path, HOME: home, TMPDIR: temporary, LANG: "C.UTF-8", TZ: "UTC", TERM: "dumb" },
    toReal: (text) => replaceAll(text, places),
    toShown: (text) =>
      replaceAll(text, [...places.map(([shown, real]) => [real, shown] as const), [repository, "/home/you/gennai"]]),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

/** A copy, because pages change its files; what is installed and built is shared. */
async function copyCheckout(checkout: string): Promise<void> {
  await mkdir(checkout);
  const shared = new Set(["node_modules", "dist"]);
  const left = new Set([...shared, ".git", ".cache"]);
  const names = (await readdir(repository)).filter((name) => !left.has(name));
  await promisify(execFile)("cp", ["-a", ...names.map((name) => join(repository, name)), checkout]);
  for (const name of shared) await symlink(join(repository, name), join(checkout, name));
}

/**
 * `npm start` in full takes a second and prints two lines of npm's own, so pages get one that does what it comes to; that the
 * real one works is a test of its own. A server that names no port listens on the page's.
 */
function programsOf(port: string): Readonly<Record<string, string>> {
  const gennai = `"${join(repository, "node_modules/.bin/node")}" "${join(repository, "dist/gennai.mjs")}"`;
  const start = `case "$1" in
  "") set -- serve --port ${port} ;;
  --serve | serve) case " $* " in *" --port "*) ;; *) set -- "$@" --port ${port} ;; esac ;;
esac
exec ${gennai} "$@"
`;
  return {
    gennai: `#!/bin/sh\n${start}`,
    npm: `#!/bin/sh
options=
prefix=$PWD
while :; do
  case "$1" in
    --silent) options="$options $1"; shift ;;
    --prefix) options="$options $1 $2"; prefix=$2; shift 2 ;;
    *) break ;;
  esac
done
[ "$1" = start ] || exec ${realNpm()} $options "$@"
shift; [ "$1" = -- ] && shift
export npm_lifecycle_event=start npm_package_json="$prefix/package.json" GENNAI_INVOKED_FROM="$PWD" GENNAI_SAMPLE_WORKSPACE="${join(repository, "examples/sample-workspace")}"
${start}`,
  };
}

function realNpm(): string {
  return `env PATH="${process.env["PATH"] ?? ""}" npm`;
}

/** All at once, so that nothing is replaced in what was put in its place. */
function replaceAll(text: string, pairs: readonly (readonly [from: string, to: string])[]): string {
  const to = new Map(pairs);
  const longestFirst = [...to.keys()].sort((one, other) => other.length - one.length);
  const any = new RegExp(
    `(?<![\\w-])(?:${longestFirst.map((each) => each.replace(/\W/g, "\\$&")).join("|")})(?![\\w-])`,
    "g",
  );
  return text.replace(any, (found) => to.get(found) ?? found);
}
