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
    name: "a file that is not in the sums",
    spoil: inRelease("gennai-1.2.3.exe", (file) => writeFileSync(file, "")),
    says: ["gennai-1.2.3.exe is not in SHA256SUMS."],
  },
  {
    name: "the sums changed with the file",
    spoil: inRelease("SHA256SUMS", (file) => {
      writeFileSync(
        file,
        readFileSync(file, "utf8").replace(/^./, (digit) => (digit === "0" ? "1" : "0")),
      );
    }),
    says: ["SHA256SUMS was changed after it was signed."],
  },
  {
    name: "the sums without their signature",
    spoil: inRelease("SHA256SUMS.sig", (file) => rmSync(file)),
    says: ["SHA256SUMS.sig is missing, or no plain file."],
  },
  {
    name: "a signature that is none",
    spoil: inRelease("SHA256SUMS.sig", (file) => writeFileSync(file, "ed25519 ok\n")),
    says: ["SHA256SUMS.sig is not a signature."],
  },
  {
    name: "a signature of another key",
    spoil: ({ directory, otherKey }) => otherKey.signFile(directory, "SHA256SUMS"),
    says: [/^SHA256SUMS is signed by key [0-9a-f]{16}, not by [0-9a-f]{16}\.$/],
  },
  {
    name: "a signature of another key that names ours",
    spoil: ({ directory, key, otherKey }) => {
      otherKey.signFile(directory, "SHA256SUMS");
      const file = join(directory, "SHA256SUMS.sig");
      writeFileSync(file, readFileSync(file, "utf8").replace(otherKey.keyId, key.keyId));
    },
    says: ["SHA256SUMS was changed after it was signed."],
  },
  {
    name: "the signature of the record in the place of that of the sums",
    spoil: ({ directory }) => cpSync(join(directory, "release-record.json.sig"), join(directory, "SHA256SUMS.sig")),
    says: ["SHA256SUMS was changed after it was signed."],
  },
  {
    name: "sums that name a file elsewhere",
    spoil: signedSums((text) => text.replace(tarball, `../${tarball}`)),
    says: [/^SHA256SUMS has a line that is none: "[0-9a-f]{64} {2}\.\.\/gennai-1\.2\.3\.tgz"\.$/],
  },
  {
    name: "sums that name a file twice",
    spoil: signedSums((text) => text + (text.split("\n")[0] ?? "") + "\n"),
    says: [/^SHA256SUMS has a line that is none/],
  },
  {
    name: "sums that are cut off",
    spoil: signedSums((text) => text.slice(0, -1)),
    says: ["SHA256SUMS is cut off or empty."],
  },
  {
    name: "no record",
    spoil: inRelease("release-record.json", (file) => rmSync(file)),
    says: ["release-record.json is missing, or no plain file."],
  },
  {
    name: "an altered record",
    spoil: inRelease("release-record.json", (file) => appendFileSync(file, " ")),
    says: ["release-record.json was changed after it was signed."],
  },
  {
    name: "a record signed by another key",
    spoil: ({ record, otherKey }) => record({}, otherKey),
    says: [/^release-record\.json is signed by key [0-9a-f]{16}, not by/],
  },
  {
    name: "the record of another release",
    spoil: ({ record }) => record({ sums_sha256: "0".repeat(64), artefacts: [] }),
    says: [
      "release-record.json is of another SHA256SUMS.",
      "release-record.json and SHA256SUMS do not name the same artefacts.",
    ],
  },
  {
    name: "a record of a later format",
    spoil: ({ record }) => record({ version: 2 as 1 }),
    says: ["release-record.json has format 2; this script knows 1. Take the one of a newer release."],
  },
  {
    name: "a checkout that was not clean",
    spoil: ({ record }) => record({ clean: false }),
    says: [/^It was made from a checkout with changes that are not in c{40}\.$/],
  },
  ...gateNames.map((name) => ({
    name: `a record without the gate ${name}`,
    spoil: ({ record }: SmallRelease) => record({ gates: gatesWithout(name) }),
    says: [`The gate ${name} is 0 times in release-record.json.`],
  })),
  {
    name: "a gate that failed",
    spoil: ({ record }) => {
      const failed = { ...passed("smoke"), result: "failed" as const, reason: "It broke: no." };
      record({ gates: [...gatesWithout("smoke"), failed], result: "refused" });
    },
    says: ["The gate smoke did not pass: It broke: no.", "release-record.json says that the release was refused."],
  },
  {
    name: "a gate that failed first and passed then",
    spoil: ({ record }) => {
      const failed = { ...passed("smoke"), result: "failed" as const, reason: "no" };
      record({ gates: [failed, ...gateNames.map(passed)] });
    },
    says: ["The gate smoke is 2 times in release-record.json."],
  },
];

describe("seed 003 §14 release: checking a release", () => {
  it("needs a public key only, and says what holds", async () => {
    using release = await smallRelease();
    const { status, stdout, stderr } = verify(release);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain(`SHA256SUMS is signed by key ${release.key.keyId}.`);
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
    expect([status, stderr]).toEqual([1, expect.stringContaining("SHA256SUMS is signed by key")]);
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

/** Other sums, signed by the release's own key. */
function signedSums(change: (text: string) => string): Row["spoil"] {
  return ({ directory, key }) => {
    const file = join(directory, "SHA256SUMS");
    writeFileSync(file, change(readFileSync(file, "utf8")));
    key.signFile(directory, "SHA256SUMS");
  };
}

function flipped(bytes: Buffer): Buffer {
  bytes[3] = (bytes[3] ?? 0) ^ 1;
  return bytes;
}
