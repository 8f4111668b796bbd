import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { quotedCommand } from "@gennai/governance/command/quoted-command";
import type { PublishCommand } from "@gennai/governance/keys/publish-command";
import { ToolFailure } from "@gennai/governance/tool-error";
import { isWithin } from "@gennai/protocol/is-within";
import { z } from "zod";

import { stagedDirectories } from "../stage/cover/stage-roots.ts";
import { keyDirectory } from "./git/key-git.ts";
import { noKey } from "./login/no-key.ts";
import { npmLogin, npmSettings, portOf, registryAddress, settingsDirectory } from "./login/npm-login.ts";
import type { KeyPlan } from "./login/user-keys.ts";
import type { KeyContext } from "./plan-key.ts";

/**
 * First packs the package, with its own scripts, without network and login; then an npm with only these settings publishes the
 * result. Rejects with `ToolFailure`.
 */
export function planPublish(command: PublishCommand, place: KeyContext): Promise<KeyPlan> {
  const { keys, workspaceRoot, directory } = place;
  const { manager, operand, options, skipsScripts } = command;
  const named = resolve(directory, operand ?? ".");
  if (!isWithin(named, { directory: workspaceRoot }))
    throw new ToolFailure("outside_workspace", "What is published has to be in the workspace.");
  const isTarball = named.endsWith(".tgz");
  const registry = registryOf(command, isTarball ? dirname(named) : named, place);
  const login = npmLogin(registry, keys);
  if (login === undefined) throw noKey(`The user's ~/.npmrc has no login for ${registry.host}.`);
  const published = isTarball ? undefined : nameOf(named);
  const scripts = skipsScripts ? ["--ignore-scripts"] : [];
  const pack = isTarball
    ? [["cp", named, `${packed}/`]]
    : [
        ...(skipsScripts ? [] : [[manager, "run", "--if-present", "prepublishOnly"]]),
        [manager, "pack", "--pack-destination", packed, ...(manager === "npm" ? scripts : [])],
      ];
  const text = [`mkdir ${packed}`, ...(isTarball ? [] : [`cd ${quotedCommand([named])}`]), ...pack.map(quotedCommand)];
  const port = portOf(registry);
  return Promise.resolve({
    url: `${registry.protocol}//${registry.hostname}:${port}${registry.pathname}`,
    login: published === undefined ? login.login : `${login.login}, to publish ${published}`,
    before: { what: "packing", text: text.join(" && "), handsOver: { from: packed, as: handed } },
    notes:
      skipsScripts || isTarball
        ? []
        : [
            "[prepublishOnly, prepack, prepare and postpack ran without network and login; publish and postpublish did not run]",
          ],
    uncover: () =>
      Promise.resolve({
        text: `${published === undefined ? "" : `${isThat(published)} && `}exec npm publish ${handed} --ignore-scripts ${quotedCommand(options)}`,
        // In the workspace, npm would find more settings.
        cwd: "/",
        environment: {
          ...login.environment,
          npm_config_userconfig: `${keyDirectory}/npmrc`,
          npm_config_globalconfig: `${keyDirectory}/none`,
          npm_config_cache: "/tmp/cache",
          npm_config_update_notifier: "false",
          npm_config_ignore_scripts: "true",
          npm_config_logs_max: "0",
        },
        mounts: [{ path: `${keyDirectory}/npmrc`, text: [`registry=${registry.href}`, ...login.lines, ""].join("\n") }],
        hosts: [{ host: registry.hostname.replace(/^\[|\]$/g, ""), port }],
        secrets: Object.values(login.environment),
      }),
  });
}

/** Where packing puts the package. */
const packed = "/tmp/gennai-packed";
/** Where the run that publishes finds it. */
const handed = `${keyDirectory}/package.tgz`;

/** NAME@VERSION. Throws `ToolFailure` if it cannot be shown to a person. */
function nameOf(directory: string): string {
  const { name = "", version = "" } = manifestIn(directory);
  if (name.length < 215 && /^(?:@[\w.~-]+\/)?[\w.~-]+$/.test(name) && /^v?\d[\w.+-]{0,99}$/.test(version))
    return `${name}@${version.replace(/^v|\+.*$/g, "")}`;
  throw noKey("The package.json has no plain name and version, so the question could not say what is published.");
}

/** Shell text that checks that the packed package is the one a person agreed to: the package's scripts could have changed it. */
function isThat(published: string): string {
  const read = quotedCommand(["node", "-e", comparing, published]);
  return `npm pack ${handed} --dry-run --json --silent | ${read}`;
}

const comparing = `
const found = JSON.parse(require("fs").readFileSync(0, "utf8"));
const names = Object.values(found).map(({ name, version }) => name + "@" + version);
if (names.length !== 1 || names[0] !== process.argv[1]) {
  console.error("What was packed is " + names.join(", ") + ", not " + process.argv[1] + ": nothing was published.");
  process.exit(1);
}`.trim();

/** The registry that npm would choose. Throws `ToolFailure` if it cannot be reached. */
function registryOf(
  { registry: named }: PublishCommand,
  packageDirectory: string,
  { keys, workspaceRoot }: KeyContext,
): URL {
  const { name = "", publishConfig = {} } = manifestIn(packageDirectory);
  const scope = /^(@[^/]+)\//.exec(name)?.[1];
  const project = npmSettings(
    join(settingsDirectory(packageDirectory, stagedDirectories(workspaceRoot, keys.home)[0]), ".npmrc"),
  );
  const user = npmSettings(join(keys.home, ".npmrc"));
  const scoped = scope === undefined ? [] : [`${scope}:registry`];
  const chosen =
    [...scoped, "registry"].map((key) => publishConfig[key]).find((value) => typeof value === "string") ??
    named ??
    [...scoped, "registry"].flatMap((key) => [project.get(key), user.get(key)]).find((value) => value !== undefined) ??
    "https://registry.npmjs.org/";
  const url = registryAddress(chosen);
  if (url === undefined) {
    throw new ToolFailure("no_registry", "The registry to publish to has no plain address.", {
      hint: "Name it: npm publish --registry https://HOST/",
    });
  }
  return url;
}

/** The fields of a `package.json` that say what the package is, and where it is published. */
const manifest = z.looseObject({
  name: z.string().optional().catch(undefined),
  version: z.string().optional().catch(undefined),
  publishConfig: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

function manifestIn(directory: string): z.infer<typeof manifest> {
  try {
    const text = readFileSync(join(directory, "package.json"), "utf8");
    return manifest.safeParse(JSON.parse(text)).data ?? {};
  } catch {
    return {};
  }
}
