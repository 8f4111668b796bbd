import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rotateLedgerKey } from "#audit/ledger-key-rotation";
import { StoreDatabase } from "#database/database";
import { formatVersion, readFormatVersion } from "#database/format-version";

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "gennai-format-"));
  file = join(directory, "gennai.db");
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe("the format of a state directory", () => {
  it.each([
    ["no file", undefined, undefined],
    ["an empty file", "", 0],
    ["a file that is cut off", "SQLite format 3\0", 0],
    ["something else", "x".repeat(100), 0],
  ])("of %s", (_name, content, wanted) => {
    if (content !== undefined) writeFileSync(file, content);
    expect(readFormatVersion(file)).toBe(wanted);
  });

  it("of one that we made is ours, open and closed", async () => {
    const database = await StoreDatabase.open(file);
    expect(readFormatVersion(file)).toBe(formatVersion);
    database[Symbol.dispose]();
    expect(readFormatVersion(file)).toBe(formatVersion);
  });

  it("stands in the write-ahead log when the one who committed it was killed, and is refused without a touch", async () => {
    (await StoreDatabase.open(file))[Symbol.dispose]();
    using newer = new SqliteConnection(file, { timeout: 0 });
    newer.exec(`CREATE TABLE future (x); PRAGMA user_version = ${formatVersion + 1}`);
    // The database itself still says what it said.
    expect(readFileSync(file).readUInt32BE(60)).toBe(formatVersion);
    const before = contents();
    await expect(StoreDatabase.open(file)).rejects.toMatchObject({ code: "newer_format" });
    expect(() => StoreDatabase.openReadOnly(file)).toThrow(/has format 2, this Gennai reads up to 1/);
    expect(contents()).toEqual(before);
  });

  it("counts when it is committed only, and not from before the log began anew", async () => {
    (await StoreDatabase.open(file))[Symbol.dispose]();
    using writer = new SqliteConnection(file, { timeout: 0 });
    writer.exec(`PRAGMA user_version = ${formatVersion + 1}; PRAGMA user_version = ${formatVersion}`);
    writer.exec("PRAGMA wal_checkpoint(RESTART); CREATE TABLE more (x)");
    expect(readFormatVersion(file)).toBe(formatVersion);
    writer.exec(`PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; PRAGMA user_version = ${formatVersion + 1}`);
    writer.exec(
      "CREATE TABLE many AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT i FROM n",
    );
    expect(readFormatVersion(file)).toBe(formatVersion);
    writer.exec("ROLLBACK");
  });

  it("of a newer one also keeps its keys from being renewed", async () => {
    using newer = new SqliteConnection(file, { timeout: 0 });
    newer.exec(`PRAGMA user_version = ${formatVersion + 1}`);
    newer[Symbol.dispose]();
    const before = contents();
    await expect(rotateLedgerKey({ stateDir: directory, now: Date.now })).rejects.toMatchObject({
      code: "newer_format",
    });
    expect(contents()).toEqual(before);
  });
});

/** The bytes of every file in the directory, by name. */
function contents(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "base64")]),
  );
}
