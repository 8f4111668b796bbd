import { mkdir, symlink, writeFile } from "node:fs/promises";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { answerByCiPolicy, parseCiPolicy, readCiPolicy } from "#ci/ci-policy";

const policy = parseCiPolicy(
  `
version: 1
allow:
  - rule: control-files/sensitive
    paths: [package.json, "docs/**"]
  - rule: rules/project/no-rm
    command: rm a.txt
  - rule: rules/project/no-make
    command: make
    cwd: packages/a
  - rule: keys/push
    risk: high
  - rule: quiet
    risk: low
`,
  "policy.yaml",
);

const asked = (
  rule: string,
  more: { command?: string; cwd?: string; paths?: readonly string[]; risk?: Risk } = {},
) => ({
  computed: { rule, risk: more.risk ?? ("medium" as const), paths: more.paths ?? [], reason: "Why.", policySha256: "" },
  actionJson: JSON.stringify({ tool: "Bash", arguments: { command: more.command, cwd: more.cwd } }),
});

test.each<[string, ReturnType<typeof asked>, boolean]>([
  ["a path that is named", asked("control-files/sensitive", { paths: ["package.json"] }), true],
  ["the same by its whole path", asked("control-files/sensitive", { paths: ["/work/repo/package.json"] }), true],
  ["several, each of them", asked("control-files/sensitive", { paths: ["package.json", "docs/a/b.md"] }), true],
  ["one that is not", asked("control-files/sensitive", { paths: ["package.json", ".npmrc"] }), false],
  ["one outside", asked("control-files/sensitive", { paths: ["/etc/package.json"] }), false],
  ["one that leads outside", asked("control-files/sensitive", { paths: ["docs/../../x"] }), false],
  ["no path, where paths are named", asked("control-files/sensitive"), false],
  ["the exact command", asked("rules/project/no-rm", { command: "rm a.txt" }), true],
  ["another command", asked("rules/project/no-rm", { command: "rm a.txt b.txt" }), false],
  ["a command with more in it", asked("rules/project/no-rm", { command: "rm a.txt; rm -r ." }), false],
  [
    "the exact command, said to start in the workspace",
    asked("rules/project/no-rm", { command: "rm a.txt", cwd: "/work/repo/." }),
    true,
  ],
  ["the exact command elsewhere", asked("rules/project/no-rm", { command: "rm a.txt", cwd: "docs" }), false],
  ["a command in its directory", asked("rules/project/no-make", { command: "make", cwd: "packages/a" }), true],
  ["the same in the workspace", asked("rules/project/no-make", { command: "make" }), false],
  ["no command", asked("rules/project/no-rm"), false],
  ["another rule", asked("rules/project/no-rmdir", { command: "rm a.txt" }), false],
  ["high risk that is said", asked("keys/push", { risk: "high" }), true],
  ["high risk that is not", asked("rules/project/no-rm", { command: "rm a.txt", risk: "high" }), false],
  ["medium risk where low is said", asked("quiet"), false],
  ["low risk there", asked("quiet", { risk: "low" }), true],
])("%s", (_name, question, isAllowed) => {
  const reply = answerByCiPolicy(policy, question, "/work/repo");
  expect(reply).toEqual(
    isAllowed ? { answer: "yes", scope: "once" } : { answer: "nobody", reason: expect.stringContaining("policy") },
  );
});

test.each<[string, RegExp]>([
  ["allow: []", /version/],
  ["version: 2\nallow: []", /version/],
  ["version: 1", /allow/],
  ["version: 1\nallow: [{ command: x }]", /allow\.0\.rule/],
  ["version: 1\nallow: [{ rule: x, comand: y }]", /comand/],
  ["version: 1\nallow: [{ rule: x, paths: ['../x'] }]", /never leaves the workspace/],
  ["version: 1\nallow: [{ rule: x, paths: ['!x'] }]", /exclusion allows nothing/],
  ["version: 1\nallow: [{ rule: x, paths: [] }]", /allow\.0\.paths/],
  ["version: 1\nallow: [{ rule: x, cwd: a }]", /without a command/],
  ["version: 1\nversion: 1\nallow: []", /policy\.yaml:2/],
  ["{", /policy\.yaml:1/],
])("a policy that cannot be used allows nothing: %j", (text, why) => {
  expect(() => parseCiPolicy(text, "policy.yaml")).toThrow(why);
});

test("a policy file: is read outside of the workspace alone, also behind a link", async () => {
  await using directory = await temporaryDirectory();
  const workspace = directory.path("repo");
  await mkdir(workspace);
  const [inside, outside, link] = [
    directory.path("repo/p.yaml"),
    directory.path("p.yaml"),
    directory.path("link.yaml"),
  ];
  for (const file of [inside, outside]) await writeFile(file, "version: 1\nallow: []\n");
  await symlink(inside, link);
  const place = { directory: workspace, workspace };
  expect(await readCiPolicy("../p.yaml", place)).toEqual({ version: 1, allow: [] });
  for (const file of ["p.yaml", inside, link])
    await expect(readCiPolicy(file, place)).rejects.toThrow("lies in the workspace");
  await expect(readCiPolicy("../none.yaml", place)).rejects.toThrow("ENOENT");
  // A package of a repository: what is beside it there is proposed as well.
  await mkdir(directory.path("repo/.git"));
  await mkdir(directory.path("repo/packages/a"), { recursive: true });
  const packaged = { directory: workspace, workspace: directory.path("repo/packages/a") };
  await expect(readCiPolicy("p.yaml", packaged)).rejects.toThrow("lies in the workspace or its repository");
  expect(await readCiPolicy("../p.yaml", packaged)).toEqual({ version: 1, allow: [] });
  await expect(readCiPolicy("/dev/zero", place)).rejects.toThrow("not a regular file");
  await writeFile(outside, "#".repeat(1024 * 1024 + 1));
  await expect(readCiPolicy(outside, place)).rejects.toThrow("larger");
});
