import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runsGennai } from "../../release/artefacts/node-package.mjs";
import { tarball } from "../../release/artefacts/tarball.ts";

it.each([
  ["20.19.0", false],
  ["22.12.0", false],
  ["22.13.1", true],
  ["23.3.0", false],
  ["23.4.0", true],
  ["24.0.0", true],
])("Node %s runs it: %s", (version, runs) => {
  expect(runsGennai(version)).toBe(runs);
});

describe("an archive", () => {
  const entries = [
    { path: `${"b".repeat(60)}/${"x".repeat(90)}`, bytes: Buffer.from("long") },
    { path: "a.txt", bytes: Buffer.from("a") },
    { path: "bin/run", bytes: Buffer.alloc(1024, 7), executable: true },
    { path: "empty", bytes: new Uint8Array() },
  ];

  it("is the same for the same files in another order", () => {
    expect(tarball(entries.toReversed(), 1).toString()).toBe(tarball(entries, 1).toString());
  });

  it("is what tar reads", () => {
    const place = mkdtempSync(join(tmpdir(), "gennai-archive-"));
    writeFileSync(join(place, "x.tgz"), tarball(entries, 1_700_000_000));
    execFileSync("tar", ["-xzf", "x.tgz"], { cwd: place });
    for (const { path, bytes } of entries) expect(readFileSync(join(place, path)).equals(bytes), path).toBe(true);
    expect(statSync(join(place, "bin/run")).mode & 0o777).toBe(0o755);
    expect(statSync(join(place, "a.txt")).mtimeMs).toBe(1_700_000_000_000);
    rmSync(place, { recursive: true });
  });

  it("refuses one name twice, and one that is too long", () => {
    const [first] = entries;
    expect(() => tarball([...entries, { path: "a.txt", bytes: new Uint8Array() }], 1)).toThrow("a.txt is twice");
    expect(() => tarball([{ path: "x".repeat(101), bytes: new Uint8Array() }], 1)).toThrow("is too long");
    expect(first).toBeDefined();
  });
});
