import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gateNames, passed, root, type SmallRelease, smallRelease } from "./small-release.ts";

const script = join(root, "release", "verify.mjs");
const gatesWithout = (name: string) => gateNames.filter((each) => each !== name).map(passed);

interface Row {
  readonly name: string;
  readonly spoil: (release: SmallRelease) => void;
  /** All that is said against it. */
  readonly says: readonly (string | RegExp)[];
}

const tarball = "gennai-1.2.3.tgz";
const bundle = "release.intoto.jsonl";
const inRelease = (name: string, change: (file: string) => void) => (release: SmallRelease) =>
  change(join(release.directory, name));

const rows: readonly Row[] = [
  {
    name: "one byte of the tarball changed",
    spoil: inRelease(tarball, (file) => writeFileSync(file, flipped(readFileSync(file)))),
    says: [/^gennai-1\.2\.3\.tgz was changed: its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}\.$/],
  },
  {
    name: "an artefact missing",
    spoil: inRelease(tarball, (file) => rmSync(file)),
    says: [`${tarball} is missing, or no plain file.`],
  },
  {
    name: "a link in the place of an artefact, to the same bytes",
    spoil: inRelease(tarball, (file) => {
      renameSync(file, `${file}.moved`);
      cpSync(`${file}.moved`, join(file, "..", "..", "elsewhere"));
      rmSync(`${file}.moved`);
      symlinkSync(join("..", "elsewhere"), file);
    }),
    says: [`${tarball} is missing, or no plain file.`],
  },
  {
    name: "a directory in the place of an artefact",
    spoil: inRelease(tarball, (file) => {
      rmSync(file);
      mkdirSync(file);
    }),
    says: [`${tarball} is missing, or no plain file.`],
  },
  {
    name: "a file that the provenance does not name",
    spoil: inRelease("gennai-1.2.3.exe", (file) => writeFileSync(file, "")),
    says: ["gennai-1.2.3.exe is not in release.intoto.jsonl."],
  },
  {
    name: "a provenance changed with the file",
    spoil: inRelease(bundle, (file) => edit(file, 0, (text) => text.replace('"1.2.3"', '"1.2.4"'))),
    says: [`${bundle} was changed after it was signed.`],
  },
  {
    name: "no provenance and no record",
    spoil: inRelease(bundle, (file) => rmSync(file)),
    says: [`${bundle} is missing, or no plain file.`],
  },
  {
    name: "a line that is none",
    spoil: inRelease(bundle, (file) => appendFileSync(file, "ok\n")),
    says: [`${bundle} has a line that is no signed statement.`],
  },
  {
    name: "a provenance signed by another key",
    spoil: ({ provenance, otherKey }) => provenance((same) => same, otherKey),
    says: [/^release\.intoto\.jsonl is signed by key [0-9a-f]{16}, not by [0-9a-f]{16}\.$/],
  },
  {
    name: "a signature of another key that names ours",
    spoil: ({ directory, provenance, key, otherKey }) => {
      provenance((same) => same, otherKey);
      const file = join(directory, bundle);
      writeFileSync(file, readFileSync(file, "utf8").replace(otherKey.keyId, key.keyId));
    },
    says: [`${bundle} was changed after it was signed.`],
  },
  {
    name: "two records, one after the other",
    spoil: inRelease(bundle, (file) => appendFileSync(file, `${readFileSync(file, "utf8").split("\n")[1]}\n`)),
    says: [`${bundle} has two statements of https://gennai.dev/release-record/v1.`],
  },
  {
    name: "a statement of a later format",
    spoil: ({ directory, key }) =>
      appendFileSync(
        join(directory, bundle),
        key.attest({ subject: [], predicateType: "https://gennai.dev/release-record/v2", predicate: {} }),
      ),
    says: ["This script does not know https://gennai.dev/release-record/v2: take the one of that release."],
  },
  {
    name: "a file elsewhere as subject",
    spoil: ({ provenance }) =>
      provenance((same) => ({ ...same, subject: same.subject.map((each) => ({ ...each, name: `../${each.name}` })) })),
    says: [`${bundle} has no provenance of a release of Gennai.`],
  },
  {
    name: "a file twice as subject",
    spoil: ({ provenance }) => provenance((same) => ({ ...same, subject: [...same.subject, ...same.subject] })),
    says: [`${bundle} has no provenance of a release of Gennai.`],
  },
  {
    name: "the provenance of another build",
    spoil: ({ provenance }) =>
      provenance((same) => ({ ...same, predicate: { buildDefinition: { buildType: "https://example.com/build" } } })),
    says: [`${bundle} has no provenance of a release of Gennai.`],
  },
  {
    name: "a bundle that is cut off",
    spoil: inRelease(bundle, (file) => writeFileSync(file, readFileSync(file, "utf8").slice(0, -1))),
    says: [`${bundle} is cut off or empty.`],
  },
  {
    name: "no record",
    spoil: inRelease(bundle, (file) => writeFileSync(file, `${readFileSync(file, "utf8").split("\n")[0]}\n`)),
    says: [`${bundle} has no record of gates.`],
  },
  {
    name: "an altered record",
    spoil: inRelease(bundle, (file) => edit(file, 1, (text) => text.replace('"passed"', '"Passed"'))),
    says: [`${bundle} was changed after it was signed.`],
  },
  {
    name: "a record signed by another key",
    spoil: ({ record, otherKey }) => record({}, otherKey),
    says: [/^release\.intoto\.jsonl is signed by key [0-9a-f]{16}, not by/],
  },
  {
    name: "a record over another commit",
    spoil: ({ record }) => record({ commit: "d".repeat(40) }),
    says: ["The record of the gates is of another release."],
  },
  {
    name: "a record of other files",
    spoil: ({ directory, provenance }) => {
      provenance((same) => ({ ...same, subject: same.subject.slice(0, 1) }));
      rmSync(join(directory, "gennai-vscode-1.2.3.vsix"));
    },
    says: ["The record of the gates is of another release."],
  },
  {
    name: "a checkout that was not clean",
    spoil: ({ provenance }) =>
      provenance((same) => {
        const { buildDefinition, ...rest } = same.predicate as { buildDefinition: object };
        const externalParameters = { version: "1.2.3", clean: false };
        return { ...same, predicate: { ...rest, buildDefinition: { ...buildDefinition, externalParameters } } };
      }),
    says: [/^It was made from a checkout with changes that are not in c{40}\.$/],
  },
  ...gateNames.map((name) => ({
    name: `a record without the gate ${name}`,
    spoil: ({ record }: SmallRelease) => record({ gates: gatesWithout(name) }),
    says: [`The gate ${name} is 0 times in the record.`],
  })),
  {
    name: "a gate that failed",
    spoil: ({ record }) => {
      const failed = { ...passed("smoke"), result: "failed" as const, reason: "It broke: no." };
      record({ gates: [...gatesWithout("smoke"), failed], result: "refused" });
    },
    says: ["The gate smoke did not pass: It broke: no.", "The record says that the release was refused."],
  },
  {
    name: "a gate that failed first and passed then",
    spoil: ({ record }) => {
      const failed = { ...passed("smoke"), result: "failed" as const, reason: "no" };
      record({ gates: [failed, ...gateNames.map(passed)] });
    },
    says: ["The gate smoke is 2 times in the record."],
  },
];

describe("seed 003 §14 release: checking a release", () => {
  it("needs a public key only, and says what holds", async () => {
    using release = await smallRelease();
    const { status, stdout, stderr } = verify(release);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain(`release.intoto.jsonl is signed by key ${release.key.keyId}.`);
    expect(stdout.trimEnd().endsWith("The release holds.")).toBe(true);
  });

  it.each(rows)("seed 003 §11 signature: refuses $name", async ({ spoil, says }) => {
    using release = await smallRelease();
    spoil(release);
    const { status, stdout, stderr } = verify(release);
    const said = stderr
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/^REFUSED: /, ""));
    expect(said).toEqual(says.map((each): unknown => (typeof each === "string" ? each : expect.stringMatching(each))));
    expect(status).toBe(1);
    expect(stdout).not.toContain("The release holds.");
  });

  it("seed 003 §11 signature: refuses with another key, whatever lies beside it", async () => {
    using release = await smallRelease();
    const { status, stderr } = verify(release, release.otherKeyFile);
    expect([status, stderr]).toEqual([1, expect.stringContaining("release.intoto.jsonl is signed by key")]);
  });

  it("refuses another version than the one wanted", async () => {
    using release = await smallRelease();
    expect(verify(release, release.keyFile, "--version", "1.2.3").status).toBe(0);
    expect(verify(release, release.keyFile, "--version", "1.2.4").stderr).toBe(
      "REFUSED: It is release 1.2.3, not 1.2.4.\n",
    );
  });

  it.each([
    ["no key", []],
    ["no directory", ["--key", "x"]],
    ["a key that is not there", [".", "--key", "no-such.pub"]],
  ])("is used wrongly with %s", (_name, args) => {
    expect(spawnSync(process.execPath, [script, ...args]).status).toBe(2);
  });
});

function verify({ directory, keyFile }: SmallRelease, key = keyFile, ...args: readonly string[]) {
  return spawnSync(process.execPath, [script, directory, "--key", key, ...args], { encoding: "utf8" });
}

/** Changes the text of a statement, and leaves its signature. */
function edit(file: string, at: number, change: (text: string) => string): void {
  const lines = readFileSync(file, "utf8").split("\n");
  const envelope = JSON.parse(lines[at] ?? "") as { payload: string };
  const payload = Buffer.from(change(Buffer.from(envelope.payload, "base64").toString())).toString("base64");
  writeFileSync(file, lines.with(at, JSON.stringify({ ...envelope, payload })).join("\n"));
}

function flipped(bytes: Buffer): Buffer {
  bytes[3] = (bytes[3] ?? 0) ^ 1;
  return bytes;
}
