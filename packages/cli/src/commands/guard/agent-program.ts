import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { isProgram, searchPath } from "@gennai/egress/keys/login/user-program";
import { realPath } from "@gennai/machine/host/way-to";
import { startProcess } from "@gennai/machine/process/start-process";
import { isWithin } from "@gennai/protocol/is-within";
import * as z from "zod";

/** An agent's program on this machine. */
export interface AgentProgram {
  /** Real path. */
  readonly path: string;
  /** Real path of what a run must see of it: the file, or the directory with all packages. */
  readonly shown: string;
}

/** The first on the search path that the workspace cannot fill or choose, because it gets a login. @param workspace real path */
export function agentProgram(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  workspace: string,
): AgentProgram | undefined {
  for (const directory of searchPath(environment, [workspace])) {
    const real = realPath(join(directory, name));
    if (real === undefined || isWithin(real, { directory: workspace }) || !isProgram(real)) continue;
    const [, packages = real] = /^(.*?\/node_modules)\//.exec(real) ?? [];
    return { path: real, shown: packages };
  }
  return undefined;
}

/** Its version, e.g. `1.18.33`: of its package, else as it says itself; undefined if neither tells one. */
export async function agentVersion(
  { path }: AgentProgram,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  return packagedVersion(path) ?? (await toldVersion(path, environment));
}

const versioned = z.looseObject({ name: z.string(), version: z.string() });

function packagedVersion(path: string): string | undefined {
  for (let at = dirname(path); at.includes("/node_modules/"); at = dirname(at)) {
    try {
      const { data } = versioned.safeParse(JSON.parse(readFileSync(join(at, "package.json"), "utf8")));
      if (data !== undefined) return versionIn(data.version);
    } catch {
      // Its directory is further up.
    }
  }
  return undefined;
}

async function toldVersion(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const program = startProcess(path, ["--version"], { env: environment, stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise((resolve) => program.once("error", resolve).once("close", resolve));
  const [said] = await Promise.all([text(program.stdout).catch(() => ""), ended]);
  return versionIn(said);
}

function versionIn(said: string): string | undefined {
  return /\b\d{1,6}\.\d{1,6}\.\d{1,6}\b/.exec(said)?.[0];
}
