import { execFileSync } from "node:child_process";
import { builtProgram } from "@gennai/testkit/built-program";
import type { StageFixture } from "../stage-fixture.ts";

const withoutRights = 61_234;

export interface Namespaces {
  /** Options of unshare. */
  readonly namespaces?: readonly string[];
  readonly users?: readonly number[];
  /** Runs the program: words before it. */
  readonly through?: string;
}

/**
 * Runs a program in mounts of its own, after some shell commands there: as root, and as a user without rights. `$1` is the
 * workspace, `$2` its base. Its arguments are the state directory and the workspace. Needs root.
 *
 * @param program a URL
 * @returns what it printed as JSON, for each user
 */
export function inNamespaces<T>(
  fixture: StageFixture,
  program: URL,
  commands: string,
  { namespaces = ["--mount"], users = [0, withoutRights], through = "" }: Namespaces = {},
): readonly T[] {
  return users.map((user) => {
    const asUser = user === 0 ? "" : `/usr/bin/setpriv --reuid=${user} --regid=${user} --clear-groups `;
    const own = user === 0 ? "true" : `chown -R ${user}:${user} "$2"`;
    const script = `set -e; ${commands}; ${own}; exec ${asUser}${through} "$3" "$4" "$2/state" "$1"`;
    const { root, base } = fixture;
    const args = [...namespaces, "/bin/sh", "-c", script, "sh", root, base, process.execPath, builtProgram(program)];
    const result: T = JSON.parse(execFileSync("/usr/bin/unshare", args, { encoding: "utf8" }));
    return result;
  });
}
