import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { quotedCommand } from "@gennai/governance/command/quoted-command";
import { type PipInstall, pipInstall, plainRequirements } from "@gennai/governance/keys/pip-install";
import type { RunMount } from "../../stage/staged-command.ts";
import { keyDirectory } from "../git/key-git.ts";
import { loginSecrets } from "../login/login-secrets.ts";
import { portOf } from "../login/npm-login.ts";
import type { KeyPlan } from "../login/user-keys.ts";
import type { KeyContext } from "../plan-key.ts";
import type { LoginReader } from "./login-reader.ts";
import { pipAlone } from "./pip-alone.ts";
import { type NamedLogin, type PipIndex, pipIndexes } from "./pip-settings.ts";
import { seenFileText } from "./settings-text.ts";

interface RequirementFile {
  /** Option of pip that precedes the file's path. */
  readonly option: string;
  readonly mount: RunMount;
}

/**
 * Fetches only wheels, with the system's own pip, because building runs a package's code. They are installed afterwards, without
 * network and login.
 */
export const pipReader: LoginReader = {
  refused: /\b(?:401|403) (?:Client )?Error|\bUser for \S+:/,
  async logins(text, place) {
    const install = pipInstall(text);
    const mounts = install === undefined ? undefined : requirementFiles(install, place);
    if (install === undefined || mounts === undefined) return [];
    const indexes = pipIndexes(place.keys, install.index);
    // One place needs one agreement, however many indexes it has.
    const withLogins = indexes.filter(({ login }) => login !== undefined);
    const first = withLogins.filter(
      ({ url }, at) => withLogins.findIndex((one) => one.url.origin === url.origin) === at,
    );
    return first.map(({ url }) => ({
      host: url.host,
      plan: async () => planFetch(install, mounts, { origin: url.origin, indexes }),
    }));
  },
};

function planFetch(
  install: PipInstall,
  mounts: readonly RequirementFile[],
  { origin, indexes }: { readonly origin: string; readonly indexes: readonly PipIndex[] },
): KeyPlan {
  const wheels = `/tmp/gennai-wheels-${randomBytes(8).toString("hex")}`;
  const files = mounts.flatMap(({ option, mount }) => [option, mount.path]);
  const used = indexes.flatMap(({ url, login, from }) =>
    url.origin === origin && login !== undefined ? [{ url, login, from }] : [],
  );
  const [first, ...others] = indexes.map(({ url, login }) =>
    url.origin === origin && login !== undefined ? withLogin(url, login) : url.href,
  );
  const from = [...new Set(used.map((one) => one.from))].join(" and ");
  const { protocol, hostname, host, port } = new URL(origin);
  const paths = used.map(({ url }) => url.pathname);
  const also = [...new Set(indexes.flatMap(({ url }) => (url.origin === origin ? [] : [url.host])))];
  return {
    url: `${protocol}//${hostname}:${portOf({ port, protocol })}${paths.length === 1 ? paths.join("") : "/"}`,
    login: `the login of ${from} for ${host}${also.length === 0 ? "" : `; without it, packages come from ${also.join(", ")}`}`,
    notes: ["[only wheels were fetched: with a login, nothing of a package is built]"],
    uncover: async () => ({
      // In a directory where no name can be a file of the workspace's.
      text: `cd / && ${quotedCommand([
        ...[...pipAlone, "download", "--only-binary=:all:", "--dest", wheels],
        ...[...install.options, ...files, ...install.packages],
      ])}`,
      scripts: install.from(wheels),
      environment: {
        PIP_CONFIG_FILE: "/dev/null",
        PIP_INDEX_URL: first ?? "",
        PIP_EXTRA_INDEX_URL: others.join(" "),
        // The user who names an index without TLS accepts that.
        ...(protocol === "http:" ? { PIP_TRUSTED_HOST: host } : {}),
        PIP_NO_INPUT: "1",
        PIP_NO_CACHE_DIR: "1",
        PIP_DISABLE_PIP_VERSION_CHECK: "1",
        PIP_KEYRING_PROVIDER: "disabled",
        NETRC: "/dev/null",
      },
      mounts: mounts.map(({ mount }) => mount),
      hosts: indexes.map(({ url }) => ({ host: url.hostname.replace(/^\[|\]$/g, ""), port: portOf(url) })),
      secrets: used.flatMap(({ login: { user, password } }) => loginSecrets(user, password)),
    }),
  };
}

function withLogin(url: URL, { user, password }: NamedLogin): string {
  const whole = new URL(url);
  whole.username = encodeURIComponent(user);
  whole.password = encodeURIComponent(password);
  return whole.href;
}

/** The requirement files that were examined; undefined if one leads to anything but an index, or is hidden from commands. */
function requirementFiles(
  { requirements, constraints }: PipInstall,
  place: KeyContext,
): readonly RequirementFile[] | undefined {
  const named = [...requirements.map((file) => ["-r", file]), ...constraints.map((file) => ["-c", file])];
  const mounts = named.map(([option = "", file = ""], index) => {
    const text = seenFileText(resolve(place.directory, file), place);
    const plain = text === undefined ? undefined : plainRequirements(text);
    return plain === undefined
      ? undefined
      : { option, mount: { path: `${keyDirectory}/requirements-${index}.txt`, text: plain } };
  });
  return mounts.every((mount) => mount !== undefined) ? mounts : undefined;
}
