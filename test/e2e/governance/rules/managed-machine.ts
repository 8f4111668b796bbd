import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../../../", import.meta.url));
export const rootPolicy = "/etc/gennai/policy.yaml";

/**
 * What `gennai ARGS` says in a user and mount namespace whose file system belongs to root, after a script of root.
 * @param machine.policy the text of root's policy
 * @param machine.foreign a file that belongs to nobody there, bound over the policy
 */
export async function onMachine(
  args: readonly string[],
  machine: {
    readonly policy: string;
    readonly script?: string;
    readonly foreign?: string;
    readonly environment?: Readonly<Record<string, string>>;
  },
): Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }> {
  const { policy, script = "true", foreign, environment = {} } = machine;
  const variables = { HOME: "/tmp/home", GENNAI_STATE_DIR: "/tmp/state", PATH: "/usr/bin:/bin", ...environment };
  const child = spawn("bwrap", [
    ...["--unshare-user", "--uid", "0", "--gid", "0", "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"],
    ...["bin", "lib", "lib64"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]),
    ...["--ro-bind", repository, repository, "--tmpfs", "/tmp", "--die-with-parent"],
    ...(foreign === undefined ? [] : ["--ro-bind", foreign, rootPolicy]),
    ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--", "/bin/sh", "-c"],
    `umask 022; mkdir -p /etc/gennai/policy.d /tmp/home; test -e ${rootPolicy} || printf '%s' "$0" > ${rootPolicy}; ${script}; exec "$@"`,
    ...[policy, `${repository}node_modules/.bin/node`, `${repository}packages/cli/src/main.ts`, ...args],
  ]);
  child.stdin.end();
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, output, errors };
}
