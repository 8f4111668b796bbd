import { chown, writeFile } from "node:fs/promises";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { rootPolicy as file, onMachine } from "./managed-machine.ts";

const policy = "gennai_policy: 1\nname: acme\ncapabilities: [read, write]\n...\n";

/** What `gennai policy show` says after a script of root. */
async function shown(script: string, foreign?: string) {
  const { output } = await onMachine(["policy", "show", "--json"], {
    policy,
    script,
    ...(foreign === undefined ? {} : { foreign }),
  });
  const said = JSON.parse(output) as { permits: string[]; problem: string | null; policies: { name: string }[] };
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
