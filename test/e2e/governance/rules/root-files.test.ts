import { execFile } from "node:child_process";
import { chown, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";

const repository = fileURLToPath(new URL("../../../../", import.meta.url));
const policy = "gennai_policy: 1\nname: acme\ncapabilities: [read, write]\n...\n";
const file = "/etc/gennai/policy.yaml";

/**
 * What `gennai policy show` says after a script of root, in a user and mount namespace whose file system belongs to root.
 * @param foreign a file that belongs to nobody there, bound over the policy
 */
async function shown(script: string, foreign?: string) {
  const program = [`${repository}node_modules/.bin/node`, `${repository}packages/cli/src/main.ts`, "policy", "show"];
  const { stdout } = await promisify(execFile)("bwrap", [
    ...["--unshare-user", "--uid", "0", "--gid", "0", "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"],
    ...["bin", "lib", "lib64"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]),
    ...["--ro-bind", repository, repository, "--tmpfs", "/tmp"],
    ...(foreign === undefined ? [] : ["--ro-bind", foreign, file]),
    ...["--setenv", "HOME", "/tmp/home", "--setenv", "GENNAI_STATE_DIR", "/tmp/state", "--", "/bin/sh", "-c"],
    `umask 022; mkdir -p /etc/gennai/policy.d; test -e ${file} || printf '%s' "$0" > ${file}; ${script}; exec "$@"`,
    ...[policy, ...program, "--json"],
  ]);
  const said = JSON.parse(stdout) as { permits: string[]; problem: string | null; policies: { name: string }[] };
  return { permits: said.permits, problem: said.problem, names: said.policies.map(({ name }) => name) };
}

test.each<[string, string, string | RegExp]>([
  ["of root", "true", ""],
  ["that others can write", `chmod 666 ${file}`, `chmod go-w ${file}`],
  ["in a directory that the group can write", "chmod 775 /etc/gennai", "chmod go-w /etc/gennai"],
  ["below a directory that others can write", "chmod 777 /etc", "chmod go-w /etc"],
  ["that is a link", `mv ${file} /etc/p.yaml; ln -s /etc/p.yaml ${file}`, `${file} is a link`],
  ["in a directory that is a link", "mv /etc/gennai /etc/g; ln -s g /etc/gennai", "/etc/gennai is a link"],
  ["that is a pipe", `rm ${file}; mkfifo ${file}`, "not a regular file"],
  ["that is too large", `head -c 300000 /dev/zero >> ${file}`, "larger than 256 KiB"],
  ["that is not UTF-8", `printf '# \\377\\n' >> ${file}`, "not UTF-8"],
  [
    "in a directory of policies that is a file",
    "rmdir /etc/gennai/policy.d; touch /etc/gennai/policy.d",
    "not a directory",
  ],
])("a policy %s", async (_what, script, wanted) => {
  const said = await shown(script);
  if (wanted === "") expect(said).toEqual({ permits: ["read", "write"], problem: null, names: ["acme"] });
  else {
    expect(said.permits).toEqual(["read"]);
    expect(said.problem).toContain(wanted);
  }
});

test.runIf(process.getuid?.() === 0)(
  "a policy that is bound from outside belongs to nobody, and is refused",
  async () => {
    await using home = await temporaryDirectory();
    const foreign = home.path("foreign.yaml");
    await writeFile(foreign, policy);
    await chown(foreign, 12_345, 12_345);
    const said = await shown("true", foreign);
    expect(said).toMatchObject({ permits: ["read"], problem: expect.stringContaining(`chown root:root ${file}`) });
  },
);
