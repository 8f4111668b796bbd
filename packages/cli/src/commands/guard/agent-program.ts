import { join } from "node:path";
import { isProgram, searchPath } from "@gennai/egress/keys/login/user-program";
import { realPath } from "@gennai/machine/host/way-to";
import { isWithin } from "@gennai/protocol/is-within";

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
