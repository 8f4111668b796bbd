import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { quotedCommand } from "@gennai/governance/command/quoted-command";
import { type PipInstall, pipInstall, plainRequirements } from "@gennai/governance/keys/pip-install";
import type { RunMount } from "../../stage/staged-command.ts";
import { keyDirectory } from "../key-git.ts";
import { loginSecrets } from "../login-secrets.ts";
import { portOf } from "../npm-login.ts";
import type { KeyPlace } from "../plan-key.ts";
import type { KeyPlan } from "../user-keys.ts";
import type { LoginReader } from "./login-reader.ts";
import { pipAlone } from "./pip-alone.ts";
import { type NamedLogin, type PipIndex, pipIndexes } from "./pip-settings.ts";
import { seenFileText } from "./settings-text.ts";

interface RequirementFile {
  /** Of pip, before its path. */
  readonly option: string;
  readonly mount: RunMount;
}

/**
 * Fetches wheels alone, by the system's own pip: what has to be built runs code of a package's. They are installed behind that, where
 * there is neither network nor login.
 */
export const pipReader: LoginReader = {
  refused: /\b(?:401|403) (?:Client )?Error|\bUser for \S+:/,
  async logins(text, place) {
    const install = pipInstall(text);
    const mounts = install === undefined ? undefined : requirementFiles(install, place);
    if (install === undefined || mounts === undefined) return [];
    const indexes = pipIndexes(place.keys, install.index);
    return indexes.flatMap((index) => {
      const { login, url } = index;
      if (login === undefined) return [];
      return [{ host: url.host, plan: async () => planFetch(install, mounts, { index, login, indexes }) }];
    });
  },
};

function planFetch(
  install: PipInstall,
  mounts: readonly RequirementFile[],
  {
    index,
    login,
    indexes,
  }: { readonly index: PipIndex; readonly login: NamedLogin; readonly indexes: readonly PipIndex[] },
): KeyPlan {
  const wheels = `/tmp/gennai-wheels-${randomBytes(8).toString("hex")}`;
  const files = mounts.flatMap(({ option, mount }) => [option, mount.path]);
  const [first, ...others] = indexes.map((one) => (one === index ? withLogin(one.url, login) : one.url.href));
  const also = indexes.filter((one) => one !== index).map(({ url }) => url.host);
  return {
    url: `${index.url.protocol}//${index.url.hostname}:${portOf(index.url)}${index.url.pathname}`,
    login: `the login of ${index.from} for ${index.url.host}${also.length === 0 ? "" : `; without it, packages come from ${also.join(", ")}`}`,
    notes: ["[only wheels were fetched: with a login, nothing of a package is built]"],
    uncover: async () => ({
      // In a directory in which no name is a file of the workspace's.
      text: `cd / && ${quotedCommand([
        ...[...pipAlone, "download", "--only-binary=:all:", "--dest", wheels],
        ...[...install.options, ...files, ...install.packages],
      ])}`,
      scripts: install.from(wheels),
      environment: {
        PIP_CONFIG_FILE: "/dev/null",
        PIP_INDEX_URL: first ?? "",
        PIP_EXTRA_INDEX_URL: others.join(" "),
        // Whoever names an index without TLS means it.
        ...(index.url.protocol === "http:" ? { PIP_TRUSTED_HOST: index.url.host } : {}),
        PIP_NO_INPUT: "1",
        PIP_NO_CACHE_DIR: "1",
        PIP_DISABLE_PIP_VERSION_CHECK: "1",
        PIP_KEYRING_PROVIDER: "disabled",
        NETRC: "/dev/null",
      },
      mounts: mounts.map(({ mount }) => mount),
      hosts: indexes.map(({ url }) => ({ host: url.hostname.replace(/^\[|\]$/g, ""), port: portOf(url) })),
      secrets: loginSecrets(login.user, login.password),
    }),
  };
}

function withLogin(url: URL, { user, password }: NamedLogin): string {
  const whole = new URL(url);
  whole.username = encodeURIComponent(user);
  whole.password = encodeURIComponent(password);
  return whole.href;
}

/** As they were looked at; undefined where one leads to anything but an index, or commands do not see it. */
function requirementFiles(
  { requirements, constraints }: PipInstall,
  place: KeyPlace,
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
