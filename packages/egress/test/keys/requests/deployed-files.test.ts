import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { DeployedFiles } from "#keys/requests/deployed-files";
import type { RequestMeaning } from "#network/added-login";

/** What the paths mean, in their order. @param there what the host has at a path */
function meanings(
  sent: readonly (readonly [path: string, text: string])[],
  there: Readonly<Record<string, string>> = {},
): readonly (RequestMeaning | undefined)[] {
  const files = new DeployedFiles();
  return sent.map(([path, text]) => {
    const found = files.reader(`/base/${path}`, path).read(Buffer.from(text), true);
    const old = there[path];
    return found?.type === "compares" ? found.read(old === undefined ? undefined : Buffer.from(old)) : found;
  });
}

const jar = "org/corp/demo/1.0/demo-1.0.jar";
const list = "org/corp/demo/maven-metadata.xml";
const what = `deploy /base/${jar} (sha256 ${hash("sha256", "one")})`;
const pretends = true;

/** @param versions that it lists */
function versions(versions: string, { group = "org.corp", artifact = "demo", more = "" } = {}): string {
  const all = versions.split(" ").map((one) => `<version>${one}</version>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<metadata modelVersion="1.1.0"><groupId>${group}</groupId><artifactId>${artifact}</artifactId>
<versioning><release>1.0</release><versions>${all.join("")}</versions><lastUpdated>20261130120000</lastUpdated>${more}</versioning></metadata>\n`;
}

test("what came first for a path is what is sent there; its checksums are its own", () => {
  expect(
    meanings([
      [jar, "one"],
      [jar, "another build"],
      [`${jar}.sha1`, "of another build"],
    ]),
  ).toEqual([
    { type: "writes", what, body: Buffer.from("one"), pretends },
    { type: "writes", what, body: Buffer.from("one"), pretends },
    {
      type: "writes",
      what: `sha1 of /base/${jar}`,
      body: Buffer.from(hash("sha1", "one")),
      pretends,
      follows: what,
    },
  ]);
});

test("a list has the versions that were there and the deployed one, and belongs to its file", () => {
  const said = versions("0.9 1.0");
  expect(
    meanings(
      [
        [jar, "one"],
        [list, said],
      ],
      { [list]: versions("0.9") },
    )[1],
  ).toEqual({
    type: "writes",
    what: `list versions in /base/${list}`,
    body: Buffer.from(said),
    pretends,
    follows: what,
  });
});

test("a snapshot is the same at each time, and its list names its files", () => {
  const directory = "org/corp/demo/1.1-SNAPSHOT";
  const file = (time: string): string => `${directory}/demo-1.1-${time}.jar`;
  const values = (value: string): string =>
    `<metadata><groupId>org.corp</groupId><artifactId>demo</artifactId><version>1.1-SNAPSHOT</version><versioning><snapshot><timestamp>20261130.120001</timestamp><buildNumber>1</buildNumber></snapshot><snapshotVersions><snapshotVersion><extension>jar</extension><value>${value}</value><updated>20261130120001</updated></snapshotVersion></snapshotVersions></versioning></metadata>`;
  const found = meanings([
    [file("20261130.120000-1"), "one"],
    [file("20261130.120001-1"), "two"],
    [`${directory}/maven-metadata.xml`, values("1.1-20261130.120001-1")],
    [`${directory}/maven-metadata.xml`, values("1.1-20250101.000000-7")],
  ]);
  expect(found.map((one) => one?.type)).toEqual(["writes", "writes", "writes", "refused"]);
  expect(found[1]).toEqual(found[0]);
});

test.each<[name: string, path: string, text: string]>([
  ["a file of another artifact", "org/corp/demo/1.0/other-1.0.jar", ""],
  ["a file of another version", "org/corp/demo/1.0/demo-1.00.jar", ""],
  ["a checksum of nothing", "org/corp/demo/1.0/demo-1.0.war.sha1", ""],
  ["the list of another artifact", "org/corp/other/maven-metadata.xml", versions("1.0", { artifact: "other" })],
  ["a list that says another group", list, versions("0.9 1.0", { group: "org.evil" })],
  ["a list that says two groups", list, versions("0.9 1.0", { more: "<groupId>org.evil</groupId>" })],
  ["a list that says another artifact", list, versions("0.9 1.0", { artifact: "other" })],
  ["a list with a third version", list, versions("0.9 1.0 2.0")],
  ["a list with the version of another file", list, versions("0.9 1.0 1.5")],
  ["a list without the old one", list, versions("1.0")],
  ["a list with another element", list, versions("0.9 1.0", { more: "<plugins/>" })],
  ["a list with a comment", list, versions("0.9 1.0", { more: "<!-- <release>2.0</release> -->" })],
  ["a list with a document type", list, `<!DOCTYPE x [<!ENTITY e "2.0">]>${versions("0.9 1.0")}`],
  ["a list with an entity", list, versions("0.9 1.0 &e;")],
])("not sent: %s", (_name, path, text) => {
  const found = meanings(
    [
      [jar, "one"],
      // Perhaps nobody agrees to it.
      ["org/corp/demo/1.5/demo-1.5.jar", "two"],
      [path, text],
    ],
    { [list]: versions("0.9") },
  );
  expect(found.map((one) => one?.type)).toEqual(["writes", "writes", "refused"]);
});
