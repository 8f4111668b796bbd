import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { certificateVariables } from "../../process/environment/certificate-variables.ts";

/** The parts of this machine that a sandboxed command sees. Absolute paths. */
export interface HostLayout {
  /** The user's home, an empty directory in the sandbox; undefined if it is `/`. */
  readonly home: string | undefined;
  /** Programs, libraries and their configuration; read-only. */
  readonly readable: readonly string[];
  /** Directories that package managers write to while they work: readable ones, and missing ones that they would create. */
  readonly caches: readonly string[];
  /** Links at the top of the file system to readable directories, e.g. `/bin` to `usr/bin`. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Paths that stay hidden, also within readable directories or the workspace. */
  readonly hidden: readonly string[];
}

export interface HostLayoutOptions {
  readonly home: string;
  /** Environment of commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Private directories of Gennai: state, keys, sockets. */
  readonly privateDirectories: readonly string[];
}

/** Examines the machine once; the result holds as long as the server runs. */
export function readHostLayout(options: HostLayoutOptions): HostLayout {
  const home = realOf(options.home);
  const hidden = [
    ...options.privateDirectories,
    ...systemSecrets,
    ...(process.getuid?.() === 0 ? closedInEtc() : []),
    ...(home === undefined ? [] : homeSecrets.map((name) => join(home, name))),
  ];
  const searched = (options.environment["PATH"] ?? "").split(":");
  const readable = [
    ...systemDirectories,
    ...[...toolVariables].flatMap((name) => options.environment[name]?.split(":") ?? []),
    ...certificateVariables.flatMap((name) => options.environment[name] ?? []).filter(holdsOnlyCertificates),
    ...searched.map(programPrefix),
    dirname(process.execPath),
    ...(home === undefined ? [] : [...homeTools, ...homeCaches].map((name) => join(home, name))),
    ...(home === undefined ? [] : gitConfigurations.map((name) => join(home, name)).filter(holdsNoCredential)),
    ...(home === undefined ? [] : gitCertificates(home).filter(holdsOnlyCertificates)),
  ];
  const links = topLinks.flatMap((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isSymbolicLink() === true ? [{ path, target: readlinkSync(path) }] : [];
  });
  const allowed = readable.flatMap((path) => {
    const real = isAbsolute(path) ? realOf(path) : undefined;
    return real !== undefined && isNarrow(real, home, hidden) ? [real, path] : [];
  });
  const shown = withoutNested([...new Set(allowed)].filter((path) => !links.some((link) => isWithin(path, link.path))));
  // The directories of shims may lie elsewhere (PYENV_ROOT).
  const cachesIn = home === undefined ? [] : [...homeCaches, ...homeShims].map((name) => join(home, name));
  return {
    home: home === "/" ? undefined : home,
    readable: shown,
    caches: [...new Set([...cachesIn, ...searched.filter(holdsShims)])].filter((path) => {
      const isShown = shown.some((directory) => isWithin(path, directory));
      // A missing cache can be created in the empty home, but not in a directory that is shown read-only.
      return existsSync(path) ? isShown : !isShown && cachesIn.includes(path);
    }),
    links,
    // Includes missing paths: a login made later is private too.
    hidden: [...new Set(hidden.flatMap((path) => [realOf(path) ?? path, path]))],
  };
}

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

const toolVariables: ReadonlySet<string> = new Set(
  [
    "JAVA_HOME GOPATH GOROOT GOMODCACHE CARGO_HOME RUSTUP_HOME NVM_DIR VOLTA_HOME PNPM_HOME COREPACK_HOME PYENV_ROOT",
    "VIRTUAL_ENV CONDA_PREFIX RBENV_ROOT GEM_HOME MAVEN_HOME GRADLE_HOME ANDROID_HOME DOTNET_ROOT",
  ].flatMap((names) => names.split(" ")),
);

/** Toolchains and caches of packages below the home, without the files that hold logins. */
const homeTools: readonly string[] = [
  ".nvm .volta .fnm .asdf .pyenv .rbenv .rustup .bun .deno .sdkman .dotnet .juliaup .ghcup .opam .nodenv .goenv",
  ".cargo/bin .cargo/env .local/bin .local/lib .local/share/mise .local/share/fnm",
  ".local/share/pipx .local/share/pypoetry .local/share/rtx .local/share/virtualenvs",
  "go/bin sdk .gradle/wrapper .cache/ms-playwright .cache/Cypress",
].flatMap((names) => names.split(" "));

/** Where package managers and compilers keep what they fetched and made: many fail if they cannot write there. */
const homeCaches: readonly string[] = [
  ".npm/_cacache .local/share/pnpm .cache/pip .cache/uv .local/share/uv .cache/pypoetry .cache/pre-commit .cache/node",
  ".cargo/registry .cargo/git go/pkg .cache/go-build .m2/repository .gradle/caches .pub-cache .nuget/packages",
  ".yarn/berry .cache/yarn",
].flatMap((names) => names.split(" "));

/** These managers of versions rewrite their shims after each install of a package. */
const homeShims: readonly string[] = [".pyenv/shims", ".rbenv/shims", ".nodenv/shims", ".asdf/shims"];

const gitConfigurations: readonly string[] = [
  ".gitconfig",
  ".config/git/config",
  ".config/git/ignore",
  ".config/git/attributes",
];

/** Credentials, histories, other programs' private data: hidden even where the workspace is the home itself. */
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

/** The directory that the programs of a directory in `PATH` need in order to run. */
function programPrefix(directory: string): string {
  const parent = dirname(directory);
  if (basename(directory) === ".bin" && basename(parent) === "node_modules") return parent;
  return /^s?bin$/.test(basename(directory)) && basename(parent) !== ".local" ? parent : directory;
}

/** Whether a directory holds shims, which come first in `PATH`. A run may write there; no other run may see what it wrote. */
export function holdsShims(path: string): boolean {
  return basename(path) === "shims";
}

/** Whether a cache holds programs or compiled code, which others start or load by name. @param path value of `PATH` */
export function holdsPrograms(cache: string, path = ""): boolean {
  return (
    /\/(?:\.cache\/(?:node|uv|pypoetry|pre-commit|go-build)|\.local\/share\/uv)$/.test(cache) ||
    path.split(":").some((directory) => isWithin(realOf(directory) ?? directory, cache))
  );
}

/** True for a directory that contains no whole home or disk, and does not lie in a hidden directory. */
function isNarrow(path: string, home: string | undefined, hidden: readonly string[]): boolean {
  if (path === "/" || wide.has(path) || path === home || (home !== undefined && isWithin(home, path))) return false;
  return hidden.every((secret) => !isWithin(path, secret));
}

const wide: ReadonlySet<string> = new Set(
  "/home /root /Users /var /run /tmp /mnt /media /srv /sys /proc /dev /boot".split(" "),
);

function holdsNoCredential(file: string): boolean {
  try {
    if (statSync(file).size > 256 * 1024) return false;
    return !/:\/\/[^/\s]*@|extraheader|token|password|passwd|secret|oauth/i.test(readFileSync(file, "utf8"));
  } catch {
    return false;
  }
}

/** Files of certificates that the user's git trusts. */
function gitCertificates(home: string): readonly string[] {
  return gitConfigurations.slice(0, 2).flatMap((name) => {
    try {
      const named = readFileSync(join(home, name), "utf8").matchAll(/^\s*sslcainfo\s*=\s*"?([^"\n#;]+?)"?\s*$/gim);
      return [...named].map(([, path = ""]) => (path.startsWith("~/") ? join(home, path.slice(2)) : path));
    } catch {
      return [];
    }
  });
}

function holdsOnlyCertificates(file: string): boolean {
  try {
    if (statSync(file).size > 4 * 1024 * 1024) return false;
    const kinds = [...readFileSync(file, "latin1").matchAll(/-----BEGIN ([^-]*)-----/g)].map(([, kind]) => kind);
    return kinds.length > 0 && kinds.every((kind) => kind === "CERTIFICATE" || kind === "TRUSTED CERTIFICATE");
  } catch {
    return false;
  }
}

/** True when `path` is `directory` or lies below it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

function withoutNested(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isWithin(path, other)));
}

function realOf(path: string): string | undefined {
  try {
    return existsSync(path) ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}
