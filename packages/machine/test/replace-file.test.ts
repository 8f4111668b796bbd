import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replaceFile, replaceFileSync } from "#replace-file";

const ways = {
  replaceFile,
  replaceFileSync: async (...args: Parameters<typeof replaceFileSync>) => Promise.resolve(replaceFileSync(...args)),
};

for (const [name, replace] of Object.entries(ways)) {
  test(`${name} leaves the new content, its mode, and no draft`, async () => {
    const directory = mkdtempSync(join(tmpdir(), "replace-file-"));
    const file = join(directory, "file");
    writeFileSync(file, "a longer old text");
    chmodSync(file, 0o644);
    for (const durable of [false, true]) {
      await replace(file, `durable: ${durable}`, { durable });
      expect(readFileSync(file, "utf8")).toBe(`durable: ${durable}`);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    expect(readdirSync(directory)).toEqual(["file"]);
  });

  test(`${name} leaves what it cannot replace`, async () => {
    const directory = mkdtempSync(join(tmpdir(), "replace-file-"));
    mkdirSync(join(directory, "file", "below"), { recursive: true });
    await expect(Promise.resolve().then(() => replace(join(directory, "file"), "text"))).rejects.toThrow(/E/);
    expect(readdirSync(join(directory, "file"))).toEqual(["below"]);
  });
}
