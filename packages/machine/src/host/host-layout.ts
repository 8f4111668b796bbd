import { existsSync, lstatSync, readdirSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { isWithin } from "@gennai/protocol/is-within";
import { certificateVariables } from "../process/certificate-variables.ts";
import { holdsOnlyCertificates } from "./only-certificates.ts";
import { programFiles } from "./program-files.ts";
import { toolParts } from "./tool-homes.ts";
import { type Link, realPath, type Way, wayFinder } from "./way-to.ts";

/** The parts of this machine that a sandboxed command sees. Absolute paths. */
export interface HostLayout {
  /** The user's home, an empty directory in the sandbox; undefined if it is `/`. */
  readonly home: string | undefined;
  /** Programs, libraries and their configuration; read-only. */
  readonly readable: readonly string[];
  /** Those of the readable ones outside the system that installers fill. */
  readonly ofTools: readonly string[];
  /** Those of the readable ones outside the system that people fill themselves. */
  readonly ofPeople: readonly string[];
  /** Directories that package managers write to while they work: readable ones, and missing ones that they would create. */
  readonly caches: readonly string[];
  /** Links on the way to readable paths, e.g. `/bin` to `usr/bin`. */
  readonly links: readonly Link[];
  /** Paths that stay hidden, also within readable directories or the workspace. */
  readonly hidden: readonly string[];
}

export interface HostLayoutOptions {
  readonly home: string;
  /** Environment of commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Private directories of Gennai: state, keys, sockets. */
  readonly privateDirectories: readonly string[];
  /** Further paths that the user wants commands to see. */
  readonly shown?: readonly string[];
}

/** Examines the machine once; the result holds as long as the server runs. */
export function readHostLayout(options: HostLayoutOptions): HostLayout {
  const { environment, privateDirectories, shown = [] } = options;
  const wayTo = wayFinder();
  const home = wayTo(options.home)?.real;
  const hidden = [
    ...privateDirectories,
    ...systemSecrets,
    ...(process.getuid?.() === 0 ? closedInEtc() : []),
    ...(home === undefined ? [] : homeSecrets.map((name) => join(home, name))),
  ];
  const isNarrow = (path: string): boolean => mayShow(path, { home, hidden });
  const waysTo = (paths: readonly string[]): readonly Way[] =>
    paths.flatMap((path) => (isAbsolute(path) ? (wayTo(path) ?? []) : [])).filter(({ real }) => isNarrow(real));
  const parts = toolParts(home, environment);
  const trusted = new Set(certificateVariables.flatMap((name) => environment[name] ?? []));
  const system = waysTo(systemDirectories);
  const caches = waysTo(parts.caches);
  const tools = waysTo([...parts.shown, ...[...trusted].filter(holdsOnlyCertificates), dirname(process.execPath)]);
  const anyway = [...system, ...caches, ...tools].map(({ real }) => real);
  const isShown = (path: string): boolean => anyway.some((directory) => isWithin(path, { directory }));
  const toolHomes = parts.homes.flatMap((path) => wayTo(path)?.real ?? []);
  const searched = (environment["PATH"] ?? "").split(":").filter((path) => isAbsolute(path));
  const programs = searched.flatMap((path) => programFiles(path, { wayTo, isShown, isNarrow, toolHomes }));
  const ways = waysTo([...programs, ...shown]);
  const ofPeople = withoutNested(ways.map(({ real }) => real).filter((path) => !isShown(path)));
  const readable = withoutNested([...anyway, ...ofPeople]);
  const isReadable = (path: string): boolean => readable.some((directory) => isWithin(path, { directory }));
  const links = [system, caches, tools, ways].flat().flatMap((way) => way.links);
  return {
    home: home === "/" ? undefined : home,
    readable,
    ofTools: withoutNested(
      tools.map(({ real }) => real).filter((path) => !system.some((one) => isWithin(path, { directory: one.real }))),
    ),
    ofPeople,
    caches: [...new Set([...parts.caches, ...searched.filter(holdsShims)])].filter((path) => {
      // A missing cache can be created in the empty home, but not in a directory that is shown read-only.
      return existsSync(path) ? isReadable(realPath(path) ?? path) : !isReadable(path) && parts.caches.includes(path);
    }),
    links: [...new Map(links.map((link) => [link.path, link])).values()].filter(({ path }) => !isReadable(path)),
    // Includes missing paths: what is made later is private too.
    hidden: [...new Set(hidden.flatMap((path) => [realPath(path) ?? path, path]))],
  };
}

/** Credentials, histories, other programs' private data: hidden where the workspace is the home itself, or contains it. */
const homeSecrets: readonly string[] = [
  ".ssh .aws .azure .gnupg .kube .docker .netrc _netrc .npmrc .yarnrc .yarnrc.yml .pypirc .pgpass .my.cnf .git-credentials",
  ".config/gh .config/hub .config/glab-cli .config/gcloud .config/doctl .config/op .config/git/credentials .config/rclone",
  ".config/containers .config/google-chrome .config/chromium .config/heroku .config/configstore .config/github-copilot",
  ".cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml .m2/settings-security.xml",
  ".gradle/gradle.properties .nuget/NuGet .composer/auth.json .config/composer/auth.json .terraform.d .terraformrc",
  ".password-store .local/share/keyrings .mozilla .thunderbird .vault-token .fly .netlify .vercel .claude .claude.json",
  ".codex .gemini .bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history",
  ".local/state/gennai Library/Keychains",
].flatMap((names) => names.split(" "));

const topLinks: readonly string[] = "/bin /sbin /lib /lib32 /lib64 /libx32".split(" ");

const systemDirectories: readonly string[] = [
  ...topLinks,
  ..."/usr /etc /opt /nix /gnu /run/current-system /sys/devices/system/cpu /sys/fs/cgroup /home/linuxbrew".split(" "),
  // These show which packages are installed: `dpkg -l`, `apt list`, `rpm -q`.
  ..."/var/lib/dpkg /var/lib/apt /var/lib/rpm /var/lib/pacman".split(" "),
];

/** Readable only by root or a group of the user's, and not needed by commands. */
const systemSecrets: readonly string[] = [
  ..."/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssh /etc/ssl/private".split(
    " ",
  ),
  ..."/etc/kubernetes /etc/docker /etc/wireguard /etc/NetworkManager /etc/openvpn /etc/krb5.keytab".split(" "),
  ..."/etc/rancher /etc/letsencrypt".split(" "),
  // Through this socket, a program can have another user fetch and build packages, with a network.
  "/nix/var/nix/daemon-socket",
];

let closed: readonly string[] | undefined;

/** What only some users may read in `/etc`: in the sandbox, root could read it too. Searched once, for all layouts. */
function closedInEtc(): readonly string[] {
  return (closed ??= closedBelow("/etc"));
}

function closedBelow(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (!entry.isFile() && !entry.isDirectory()) return [];
    const mode = lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    const wanted = entry.isDirectory() ? 0o005 : 0o004;
    if ((mode & wanted) !== wanted) return [path];
    return entry.isDirectory() ? closedBelow(path) : [];
  });
}

/** Whether a directory holds shims, which come first in `PATH`. A run may write there; no other run may see what it wrote. */
export function holdsShims(path: string): boolean {
  return basename(path) === "shims";
}

/**
 * Caches whose content package managers compare with what the project's lock file says. Cargo and Go do that when they unpack, and
 * build from what they unpacked.
 */
const checked = /\/(?:\.npm\/_cacache|\.local\/share\/pnpm|\.yarn\/berry)$/;

/** Whether a cache may hold programs or compiled code that others start or load unchecked. @param path value of `PATH` */
export function holdsPrograms(cache: string, path = ""): boolean {
  return (
    !checked.test(cache) ||
    path.split(":").some((directory) => isWithin(realPath(directory) ?? directory, { directory: cache }))
  );
}

/** Whether what is at a real path may be shown whole: no home or disk, and nothing that is hidden or named as a secret. */
export function mayShow(path: string, { home, hidden }: Pick<HostLayout, "home" | "hidden">): boolean {
  const isWide = path === "/" || wide.has(path) || (home !== undefined && isWithin(home, { directory: path }));
  // Certificates have names like those of keys.
  const isSecret = secretPath(path) !== undefined && !holdsOnlyCertificates(path);
  return !isWide && !isSecret && hidden.every((secret) => !isWithin(path, { directory: secret }));
}

const wide: ReadonlySet<string> = new Set(
  "/home /root /Users /var /run /tmp /mnt /media /srv /sys /proc /dev /boot".split(" "),
);

function withoutNested(paths: readonly string[]): readonly string[] {
  const all = [...new Set(paths)];
  return all.filter((path) => !all.some((other) => other !== path && isWithin(path, { directory: other })));
}
