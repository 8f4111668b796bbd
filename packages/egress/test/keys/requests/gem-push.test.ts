import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { pushedGem } from "#keys/requests/gem-push";

/** As `gem build` writes it. */
const metadata = `--- !ruby/object:Gem::Specification
name: thing
version: !ruby/object:Gem::Version
  version: 1.0.0
platform: ruby
date: 2026-11-29 00:00:00.000000000 Z
dependencies:
- !ruby/object:Gem::Dependency
  name: rake
  requirement: !ruby/object:Gem::Requirement
    requirements:
    - - ">="
      - !ruby/object:Gem::Version
        version: '1.0'
    - - "<"
      - !ruby/object:Gem::Version
        version: '20'
  type: :runtime
  prerelease: false
- !ruby/object:Gem::Dependency
  name: minitest
  requirement: !ruby/object:Gem::Requirement
    requirements:
    - - "~>"
      - !ruby/object:Gem::Version
        version: '5'
  type: :development
  prerelease: false
`;

async function gem(yaml: string | Buffer, name = "metadata.gz", ...more: string[]): Promise<Buffer> {
  await using files = await temporaryDirectory({ "data.tar.gz": "data", metadata: "name: popular\n" });
  writeFileSync(files.path(name), typeof yaml === "string" ? gzipSync(yaml) : yaml);
  execFileSync("tar", ["--format=ustar", "-cf", "x.gem", name, "data.tar.gz", ...more], { cwd: files.root });
  return readFileSync(files.path("x.gem"));
}

test("a gem is told with its name, version, hash and needs, and sent as it is", async () => {
  const bytes = await gem(metadata);
  expect(pushedGem(bytes)).toEqual({
    type: "writes",
    what: `publish thing 1.0.0 (sha256 ${hash("sha256", bytes)}, needs rake >= 1.0 < 20, minitest ~> 5 (development))`,
  });
  expect(pushedGem(await gem(metadata.replace("platform: ruby", "platform: x86_64-linux")))).toMatchObject({
    what: expect.stringMatching(/^publish thing 1\.0\.0 for x86_64-linux \(sha256 /),
  });
});

test.each<[name: string, bytes: () => Promise<Buffer> | Buffer]>([
  ["nothing", () => Buffer.alloc(0)],
  ["another name that is merged in", () => gem(`${metadata}<<:\n  name: popular\n`)],
  ["needs that are merged in", () => gem(metadata.replace("dependencies:", "<<: { dependencies: [] }\ndependencies:"))],
  ["a name in a list of names", () => gem(`${metadata}? [name]\n: popular\n`)],
  ["a version that is another number in Ruby", () => gem(metadata.replace("version: 1.0.0", "version: 1_000"))],
  ["metadata that stands twice", () => gem(metadata, "metadata.gz", "metadata.gz")],
  ["no metadata", () => gem(metadata, "other.gz")],
  ["metadata that is not packed", () => gem(Buffer.from(metadata))],
  ["one that is not packed behind it", () => gem(metadata, "metadata.gz", "metadata")],
  [
    "one that ends before the rest of its name",
    () => gem(Buffer.concat([gzipSync(metadata.slice(0, 40)), gzipSync(metadata.slice(40))])),
  ],
  ["a version that is octal in Ruby", () => gem(metadata.replace("version: 1.0.0", "version: 010"))],
  ["a name that Ruby unpacks", () => gem(metadata.replace("name: thing", "name: !binary cmFpbHM"))],
  ["a name that stands twice", () => gem(metadata.replace("platform: ruby", "platform: ruby\nname: other"))],
  ["a name that is none", () => gem(metadata.replace("name: thing", "name: ../thing"))],
  ["a second document", () => gem(`${metadata}--- !ruby/object:Gem::Specification\nname: other\n`)],
  ["a platform that hides what follows", () => gem(metadata.replace("platform: ruby", 'platform: "x\\e[8m"'))],
])("refused: %s", async (_name, bytes) => {
  expect(pushedGem(await bytes())).toMatchObject({ type: "refused" });
});
