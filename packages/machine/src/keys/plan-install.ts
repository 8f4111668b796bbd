import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { dirname, join } from "node:path";
import { isPlainInstall, splitInstall } from "@gennai/governance/installs/split-install";
import { isLoopback } from "@gennai/governance/network/endpoint";
import { isWithin } from "@gennai/protocol/is-within";

import { stagedDirectories } from "../stage/cover/stage-roots.ts";
import { isPublicAddress } from "../web/public-address.ts";
import { keyDirectory } from "./git/key-git.ts";
import { noKey } from "./login/no-key.ts";
import { type NpmLogin, npmLogin, npmSettings, portOf, registryAddress, settingsDirectory } from "./login/npm-login.ts";
import type { KeyPlan } from "./login/user-keys.ts";
import type { KeyContext } from "./plan-key.ts";

/** A registry that the project takes packages from, for which the user has a login. */
export interface RegistryLogin extends NpmLogin {
  readonly registry: URL;
}

/**
 * The logins for an npm install that is a single command; empty for anything else, e.g. for managers that run code of the
 * workspace.
 */
export function installLogins(text: string, place: Omit<KeyContext, "signal">): readonly RegistryLogin[] {
  if (!isPlainInstall(text)) return [];
  return [...registriesOf(place).values()].flatMap((registry) => {
    const login = npmLogin(registry, place.keys);
    return login === undefined ? [] : [{ ...login, registry }];
  });
}

/**
 * Plans an install with the login for a registry that has asked for one. Packages are fetched with settings that have only
 * addresses from the workspace, and without scripts; the scripts run afterwards, without login. Undefined if no login is wanted,
 * or several are. Throws `ToolFailure` (`no_key`) if the workspace would also lead it into the machine's own networks.
 *
 * @param wanted hosts, with their ports, that answered that they want a login
 */
export function planInstall(
  text: string,
  place: Omit<KeyContext, "signal">,
  wanted: ReadonlySet<string>,
): KeyPlan | undefined {
  const install = isPlainInstall(text) ? splitInstall(text) : undefined;
  const [login, ...more] = installLogins(text, place).filter(({ registry }) => wanted.has(registry.host));
  if (install === undefined || login === undefined || more.length > 0) return undefined;
  const { registry } = login;
  const registries = registriesOf(place);
  const others = [...registries.values()].filter(({ host }) => host !== registry.host);
  const also =
    others.length === 0
      ? ""
      : `; without it, packages come from ${[...new Set(others.map(({ host }) => host))].join(", ")}`;
  const [inner] = others.filter((one) => !isOutside(one) && !usersOwn(place).some(({ host }) => host === one.host));
  if (inner !== undefined) {
    throw noKey(`The workspace takes packages from ${inner.host}, which is not on the public internet.`);
  }
  const settings = [...registries].map(([name, { href }]) => `${name}=${href}`);
  const clean = `${settings.join("\n")}\n`;
  const hosts = [registry, ...others];
  return {
    url: `${registry.protocol}//${registry.hostname}:${portOf(registry)}${registry.pathname}`,
    login: `${login.login}${also}`,
    notes: [],
    uncover: () =>
      Promise.resolve({
        text: hosts.some(({ hostname }) => gitHosts.has(hostname))
          ? `${knowsAllowGit} && ${install.fetch}`
          : install.fetch,
        ...(install.scripts === undefined ? {} : { scripts: install.scripts }),
        environment: {
          ...login.environment,
          npm_config_userconfig: `${keyDirectory}/npmrc`,
          npm_config_globalconfig: `${keyDirectory}/none`,
          // A new name, in which nobody else has written.
          npm_config_cache: `/tmp/gennai-npm-${randomBytes(8).toString("hex")}`,
          npm_config_ignore_scripts: "true",
          ...noPrograms,
          npm_config_update_notifier: "false",
          npm_config_logs_max: "0",
        },
        mounts: [
          { path: `${keyDirectory}/npmrc`, text: `${[...settings, ...login.lines].join("\n")}\n` },
          // These files could name programs, in any of the directories in which npm looks, including the session's layer, which
          // is not visible here.
          ...directoriesUp(place).map((directory) => ({ path: join(directory, ".npmrc"), text: clean })),
        ],
        hosts: hosts.map((one) => ({
          host: one.hostname.replace(/^\[|\]$/g, ""),
          port: portOf(one),
        })),
        secrets: Object.values(login.environment),
      }),
  };
}

/**
 * Replaces the programs that npm starts for a package from a git repository: such a package is prepared by another npm, with
 * settings of its own. None is expected; if there is one, that npm finds only these.
 */
const noPrograms = {
  npm_config_allow_git: "none",
  npm_config_git: "false",
  npm_config_node_options: "--no-warnings",
  npm_config_script_shell: "/bin/sh",
  // If npm is a shim of Corepack's, a project could choose which npm runs.
  COREPACK_ENABLE_PROJECT_SPEC: "0",
  COREPACK_ENV_FILE: "0",
};

/** Hosts from which npm also takes such packages without git. */
const gitHosts: ReadonlySet<string> = new Set(
  "github.com codeload.github.com gitlab.com bitbucket.org git.sr.ht".split(" "),
);

/** Shell text: an older npm would accept packages from git. */
const knowsAllowGit = `{ npm install --help | grep -q -- --allow-git || { echo "npm is too old to be given a login for this host" >&2; exit 1; }; }`;

/** The directories from the command's own up to that of the work tree. */
function directoriesUp({ directory, workspaceRoot, keys }: Omit<KeyContext, "signal">): readonly string[] {
  const [top] = stagedDirectories(workspaceRoot, keys.home);
  const directories: string[] = [];
  for (let at = directory; isWithin(at, { directory: top }); at = dirname(at)) {
    directories.push(at);
    if (dirname(at) === at) break;
  }
  return directories;
}

/** A name may still lead into a private network, which is checked when it is looked up. */
function isOutside({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, "");
  return isIP(host) === 0 ? !isLoopback({ host }) : isPublicAddress(host);
}

function usersOwn({ keys }: Pick<KeyContext, "keys">): readonly URL[] {
  return addressesIn(npmSettings(join(keys.home, ".npmrc"))).map(([, url]) => url);
}

/** Registries by setting: `registry`, and `@scope:registry`. The project's settings have precedence over the user's. */
function registriesOf({ directory, workspaceRoot, keys }: Omit<KeyContext, "signal">): ReadonlyMap<string, URL> {
  const [top] = stagedDirectories(workspaceRoot, keys.home);
  const files = [keys.home, settingsDirectory(directory, top)].map((at) => join(at, ".npmrc"));
  const all = [
    ["registry", "https://registry.npmjs.org/"] as const,
    ...files.flatMap((file) => [...npmSettings(file)]),
  ];
  return new Map(addressesIn(all));
}

function addressesIn(settings: Iterable<readonly [string, string]>): readonly (readonly [string, URL])[] {
  return [...settings].flatMap(([name, value]) => {
    const url = /^(?:@[\w.-]+:)?registry$/.test(name) ? registryAddress(value) : undefined;
    return url === undefined ? [] : [[name, url] as const];
  });
}
