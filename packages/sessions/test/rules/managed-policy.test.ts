import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { permitted, problemOf } from "@gennai/governance/limits/limits";
import { ifMissing } from "@gennai/machine/system-error";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { loadLimits } from "#rules/load-limits";
import { ManagedPolicy } from "#rules/managed-policy";

const acme = `gennai_policy: 1
name: acme
contact: security@acme.example
capabilities: [read, propose, write]
emergency:
  block: [deploy]
...
`;

/** Policies in a directory that belongs to whoever runs the test. */
async function managed(files: Readonly<Record<string, string>>) {
  const home = await temporaryDirectory();
  await mkdir(home.path("policy.d"));
  const write = (name: string, text: string) => writeFile(home.path(name), text);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const policy = new ManagedPolicy({
    directory: home.root,
    list: (directory) => (existsSync(directory) ? readdirSync(directory).sort() : []),
    read: (file) => readFile(file, "utf8").catch(ifMissing(undefined)),
  });
  return { ...home, policy, write, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

test("no file, or an empty directory: not managed", async () => {
  await using here = await managed({ "policy.d/README": "No policy." });
  expect(await here.policy.load()).toEqual({ limits: [], files: [], warnings: [] });
});

test("all files hold together", async () => {
  const other = acme.replace("acme", "team").replace("propose, write", "write, execute");
  await using here = await managed({ "policy.yaml": acme, "policy.d/team.yaml": other });
  const { limits, files } = await here.policy.load();
  expect(permitted(limits)).toEqual(["read", "write"]);
  expect(limits).toMatchObject([{ name: "acme", lines: { capabilities: 4, "emergency.block": 6 } }, { name: "team" }]);
  expect(files.map(({ path }) => path)).toEqual([here.path("policy.yaml"), here.path("policy.d/team.yaml")]);
});

test("no beginning of a good file is a policy, and none is taken for an empty one", async () => {
  await using here = await managed({});
  for (let length = 0; length < acme.trimEnd().length; length += 1) {
    await here.write("policy.yaml", acme.slice(0, length));
    const { limits } = await new ManagedPolicy({
      directory: here.root,
      list: (directory) => (directory === here.root ? ["policy.yaml"] : []),
      read: (file) => readFile(file, "utf8"),
    }).load();
    expect(permitted(limits), acme.slice(0, length)).toEqual(["read"]);
    expect(problemOf(limits)).toMatch(/policy\.yaml:\d+: /);
  }
});

test.each<[string, string, RegExp]>([
  ["a key twice", acme.replace("name: acme", "name: acme\nname: b"), /policy\.yaml:3: .*unique/],
  [
    "a misspelt key",
    acme.replace("capabilities", "capabilites"),
    /policy\.yaml:4: capabilites .*did you mean capabilities\?/,
  ],
  ["an alias", acme.replace("[deploy]", "*x"), /policy\.yaml:\d+: /],
  ["two documents", `${acme}---\n${acme}`, /policy\.yaml:\d+: /],
  ["another version", acme.replace("policy: 1", "policy: 2"), /policy\.yaml:1: gennai_policy/],
])("%s: only reading is left, whatever the other files say", async (_what, text, wanted) => {
  await using here = await managed({ "policy.yaml": text, "policy.d/good.yaml": acme });
  const { limits } = await here.policy.load();
  expect(permitted(limits)).toEqual(["read"]);
  expect(problemOf(limits)).toMatch(wanted);
  expect(limits).toContainEqual(expect.objectContaining({ name: "acme" }));
});

test("a name that is not read is an error", async () => {
  await using here = await managed({ "policy.d/team.yml": acme });
  expect(problemOf((await here.policy.load()).limits)).toContain(
    "team.yml is not read under this name; end it with .yaml",
  );
});

test.each<[string, (file: string) => Promise<unknown>, RegExp]>([
  ["becomes bad", (file) => writeFile(file, "gennai_policy: 1\n"), /cut off.*until the server is restarted/],
  ["disappears", (file) => rm(file), /is gone.*until the server is restarted/],
])("a policy that %s while it is in use stays as it was", async (_what, change, warning) => {
  await using here = await managed({ "policy.yaml": acme });
  const before = await here.policy.load();
  await change(here.path("policy.yaml"));
  const after = await here.policy.load();
  expect(after).toEqual({ ...before, warnings: [expect.stringMatching(warning)] });
  await rename(await written(here.path("new"), acme.replace("propose, write", "execute")), here.path("policy.yaml"));
  expect(permitted((await here.policy.load()).limits)).toEqual(["read", "execute"]);
});

async function written(file: string, text: string): Promise<string> {
  await writeFile(file, text);
  return file;
}

test("root may require a signed policy; and one of root is enough for a server of many users", async () => {
  await using here = await managed({ "policy.yaml": "gennai_policy: 1\nname: acme\n...\n" });
  const place = {
    environment: {},
    configDir: join(here.root, "none"),
    stateDir: here.root,
    managed: here.policy,
    version: "0.2.0",
  };
  expect(problemOf((await loadLimits({ ...place, required: true }, Date.now)).current())).toBeUndefined();
  await here.write("policy.yaml", "gennai_policy: 1\nname: acme\nrequire: { license: true }\n...\n");
  const limits = (await loadLimits({ ...place, required: false }, Date.now)).current();
  expect(permitted(limits)).toEqual(["read"]);
  expect(problemOf(limits)).toContain("one is required here");
});

test("the end of a policy is announced for thirty days", async () => {
  const text = acme.replace("contact:", "expires: 2027-06-30T00:00:00Z\ncontact:");
  await using here = await managed({ "policy.yaml": text });
  const place = {
    environment: {},
    configDir: here.path("none"),
    stateDir: here.root,
    managed: here.policy,
    version: "0.2.0",
  };
  const warningsAt = async (day: string) =>
    (await loadLimits({ ...place, required: false }, () => Date.parse(day))).warnings;
  expect(await warningsAt("2027-05-30")).toEqual([]);
  expect(await warningsAt("2027-06-01")).toEqual(["The policy acme expires on 2027-06-30."]);
});
