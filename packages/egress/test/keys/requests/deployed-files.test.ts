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
    const found = files.reader(path, "/base/").read(Buffer.from(text), true);
    const old = there[path];
    return found?.type === "compares" ? found.read(old === undefined ? undefined : Buffer.from(old)) : found;
  });
}

const jar = "org/corp/demo/1.0/demo-1.0.jar";
const list = "org/corp/demo/maven-metadata.xml";
const what = `deploy ${jar} (sha256 ${hash("sha256", "one")})`;
const pretends = true;

/** @param versions that it lists */
function versions(
  versions: string,
  { group = "org.corp", artifact = "demo", release = "<release>1.0</release>", more = "" } = {},
): string {
  const all = versions.split(" ").map((one) => `<version>${one}</version>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<metadata modelVersion="1.1.0"><groupId>${group}</groupId><artifactId>${artifact}</artifactId>
<versioning>${release}<versions>${all.join("")}</versions><lastUpdated>20261130120000</lastUpdated>${more}</versioning></metadata>\n`;
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
      what: `sha1 of ${jar}`,
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
    what: `list versions in ${list}`,
    body: Buffer.from(said),
    pretends,
    follows: what,
  });
});

const directory = "org/corp/demo/1.1-SNAPSHOT";
const snapshots = `${directory}/maven-metadata.xml`;
const [older, old, now] = ["20250101.000000-1", "20261130.115959-9", "20261130.120001-10"];
const snapshotJar = (time: string, rest = ".jar"): string => `${directory}/demo-1.1-${time}${rest}`;

/** As Maven writes it. @param files what stands behind the version in a name, with its time */
function snapshot(time: string, ...files: readonly (readonly [classifier: string, time: string])[]): string {
  const [timestamp, number] = time.split("-");
  const named = files.map(
    ([classifier, its]) => `      <snapshotVersion>
        ${classifier === "" ? "" : `<classifier>${classifier}</classifier>`}
        <extension>jar</extension>
        <value>1.1-${its}</value>
        <updated>20261130120001</updated>
      </snapshotVersion>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<metadata modelVersion="1.1.0">
  <groupId>org.corp</groupId>
  <artifactId>demo</artifactId>
  <versioning>
    <lastUpdated>20261130120001</lastUpdated>
    <snapshot>
      <timestamp>${timestamp}</timestamp>
      <buildNumber>${number}</buildNumber>
    </snapshot>
    ${named.length === 0 ? "" : `<snapshotVersions>\n${named.join("\n")}\n    </snapshotVersions>`}
  </versioning>
  <version>1.1-SNAPSHOT</version>
</metadata>
`;
}

test("a snapshot is the same at each time, and its list names its files, and others as they are there", () => {
  const said = snapshot(now, ["", now], ["sources", old]);
  const found = meanings(
    [
      [snapshotJar("20261130.120000-10"), "one"],
      [snapshotJar(now), "two"],
      [snapshots, said],
      [`${snapshots}.sha1`, ""],
    ],
    { [snapshots]: snapshot(old, ["", old], ["sources", old]) },
  );
  const what = `deploy ${directory}/demo-1.1-SNAPSHOT.jar (sha256 ${hash("sha256", "one")})`;
  expect(found[0]).toMatchObject({ type: "writes", what });
  expect(found[1]).toEqual(found[0]);
  expect(found[2]).toMatchObject({ type: "writes", body: Buffer.from(said), follows: what });
  expect(found[3]).toMatchObject({ type: "writes", body: Buffer.from(hash("sha1", said)), follows: what });
  expect(
    meanings([
      [snapshotJar(now), "one"],
      [snapshots, snapshot(now)],
    ])[1],
  ).toMatchObject({ type: "writes" });
});

test.each<[name: string, text: string, there?: string]>([
  ["the time of an older build alone", snapshot(older), snapshot(old)],
  ["the time of an older build that was put", snapshot(old), snapshot(now)],
  ["the time of the build that is there", snapshot(now), snapshot(now)],
  ["an older build than a file that is there", snapshot(now), snapshot(old, ["", "20261130.120001-11"])],
  ["a time that was put at first only", snapshot(older)],
  ["the older build of a deployed file", snapshot(now, ["", old]), snapshot(old, ["", old])],
  [
    "another build of a file that is there",
    snapshot(now, ["", now], ["sources", older]),
    snapshot(old, ["sources", old]),
  ],
  ["a file that is not there", snapshot(now, ["", now], ["sources", now])],
  ["a file twice", snapshot(now, ["", old], ["", now]), snapshot(old, ["", old])],
  ["one file less than there", snapshot(now, ["", now]), snapshot(old, ["sources", old])],
  ["another version", snapshot(now).replace("1.1-SNAPSHOT", "1.2-SNAPSHOT")],
  ["no version", snapshot(now).replace("<version>1.1-SNAPSHOT</version>", "")],
  ["versions", versions("1.1-SNAPSHOT")],
])("a list of a snapshot is not sent with %s", (_name, text, there) => {
  const found = meanings(
    [
      [snapshotJar(older), "one"],
      [snapshotJar(text.includes("115959") && text.includes("<buildNumber>9") ? old : now), "two"],
      [snapshots, text],
    ],
    there === undefined ? {} : { [snapshots]: there },
  );
  expect(found.map((one) => one?.type)).toEqual(["writes", "writes", "refused"]);
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
  ["a list without a release that is there", list, versions("0.9 1.0", { release: "" })],
  ["a list with the release of another file", list, versions("0.9 1.0", { release: "<release>1.5</release>" })],
  ["a list with another latest", list, versions("0.9 1.0", { more: "<latest>1.5</latest>" })],
  ["a list with two releases", list, versions("0.9 1.0", { more: "<release>1.0</release>" })],
  [
    "a list with the old one elsewhere",
    list,
    versions("1.0").replace("<versioning>", "<version>0.9</version><versioning>"),
  ],
  ["a list with two roots", list, versions("0.9 1.0") + versions("1.0")],
  ["a list with more behind its root", list, `${versions("0.9 1.0")}</metadata>`],
  ["a list with an end too many", list, versions("0.9 1.0", { more: "</versions>" })],
  ["a list with no end", list, versions("0.9 1.0").replace("</metadata>", "")],
  ["a list with text in it", list, versions("0.9 1.0", { more: "2.0" })],
  ["a list with attributes", list, versions("0.9 1.0").replace("<versions>", '<versions xmlns="x">')],
  ["a list in other letters", list, versions("0.9 1.0").replace("UTF-8", "UTF-7")],
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
