import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { defaultStateDir, prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "#sqlite/store";
import { StoreFixture } from "../sqlite/store-fixture.ts";

const onWarning = (): void => {};

it.each<[string, Record<string, string>, NodeJS.Platform, string]>([
  ["Linux", {}, "linux", "/home/ada/.local/state/gennai"],
  ["XDG_STATE_HOME", { XDG_STATE_HOME: "/state" }, "linux", "/state/gennai"],
  [
    "a relative XDG_STATE_HOME, which counts for nothing",
    { XDG_STATE_HOME: "state" },
    "linux",
    "/home/ada/.local/state/gennai",
  ],
  ["macOS", { XDG_STATE_HOME: "/state" }, "darwin", "/home/ada/Library/Application Support/gennai"],
  ["Windows", { LOCALAPPDATA: "C:\\Local\\" }, "win32", "C:\\Local\\gennai"],
  ["Windows without it", {}, "win32", "/home/ada\\AppData\\Local\\gennai"],
  ["GENNAI_STATE_DIR", { GENNAI_STATE_DIR: "/own", XDG_STATE_HOME: "/state" }, "darwin", "/own"],
  ["an empty GENNAI_STATE_DIR", { GENNAI_STATE_DIR: "" }, "linux", "/home/ada/.local/state/gennai"],
])("the state directory by %s", (_name, env, platform, wanted) => {
  expect(defaultStateDir(env, platform, "/home/ada")).toBe(wanted);
});

it("a relative GENNAI_STATE_DIR is refused", () => {
  expect(() => defaultStateDir({ GENNAI_STATE_DIR: "state" })).toThrow(
    expect.objectContaining({ code: "unsafe_state_directory" }),
  );
});

describe("the store on disk", () => {
  let fixture: StoreFixture;
  beforeEach(async () => {
    fixture = await StoreFixture.create();
  });
  afterEach(async () => {
    await fixture[Symbol.asyncDispose]();
  });

  it("is for its owner's eyes only", async () => {
    await using store = await fixture.open();
    await fixture.record(store, 1);
    await store.blobs.put(new Uint8Array([1]), "text/plain");
    const modeOf = async (path: string): Promise<number> => (await stat(join(fixture.stateDir, path))).mode & 0o777;
    for (const directory of ["", "blobs", "keys", "heads"]) expect(await modeOf(directory)).toBe(0o700);
    for (const file of ["gennai.db", "gennai.db-wal", "gennai.db-shm", "keys/ledger.ed25519"])
      expect(await modeOf(file)).toBe(0o600);
  });

  it("narrows a directory others may read and refuses one others may write", async () => {
    await mkdir(fixture.stateDir, { mode: 0o755 });
    expect(await prepareStateDirectory(fixture.stateDir)).toBe(fixture.stateDir);
    expect((await stat(fixture.stateDir)).mode & 0o777).toBe(0o700);
    await chmod(fixture.stateDir, 0o770);
    await expect(openStore(fixture.stateDir, { onWarning })).rejects.toMatchObject({ code: "unsafe_state_directory" });
  });

  it("says of a directory that cannot be written which one it is, and why", async () => {
    await mkdir(fixture.stateDir, { mode: 0o700 });
    const script = `
      import { prepareStateDirectory } from ${JSON.stringify(import.meta.resolve("@gennai/machine/config/state-directory"))};
      await prepareStateDirectory(${JSON.stringify(fixture.stateDir)}).catch(({ code, message }) => console.log(code, message));`;
    const readOnly = ["--dev-bind", "/", "/", "--ro-bind", fixture.stateDir, fixture.stateDir];
    const node = [process.execPath, "--input-type=module", "-e", script];
    const { stdout } = await promisify(execFile)("bwrap", [...readOnly, ...node]);
    expect(stdout).toBe(
      `read_only The state directory ${fixture.stateDir} cannot be written (EROFS: read-only file system): make it writable, or set GENNAI_STATE_DIR.\n`,
    );
    await writeFile(join(fixture.directory, "file"), "");
    await expect(prepareStateDirectory(join(fixture.directory, "file", "state"))).rejects.toThrow("ENOTDIR");
  });

  it("may stand behind a link", async () => {
    await mkdir(join(fixture.directory, "real"));
    await symlink(join(fixture.directory, "real"), fixture.stateDir);
    await using store = await openStore(fixture.stateDir, { onWarning });
    expect(store.stateDir).toBe(join(fixture.directory, "real"));
  });

  it("refuses a newer format and leaves the file as it was", async () => {
    await mkdir(fixture.stateDir, { mode: 0o700 });
    const file = join(fixture.stateDir, "gennai.db");
    using newer = new SqliteConnection(file, { timeout: 0 });
    newer.exec("CREATE TABLE future (x); PRAGMA user_version = 2");
    newer[Symbol.dispose]();
    const before = await readFile(file);
    await expect(openStore(fixture.stateDir, { onWarning })).rejects.toMatchObject({
      name: "StoreError",
      code: "newer_format",
    });
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  it.each([
    ["text", "this is not a database, but long enough to be looked at as if it were one: ".repeat(20), "not_a_store"],
    ["a truncated database", `SQLite format 3\u0000${"\u0001".repeat(40)}`, "not_a_store"],
  ])("refuses %s in its place", async (_name, content, code) => {
    await mkdir(fixture.stateDir, { mode: 0o700 });
    await writeFile(join(fixture.stateDir, "gennai.db"), content);
    await expect(openStore(fixture.stateDir, { onWarning })).rejects.toMatchObject({ name: "StoreError", code });
  });

  it("says that it is closed", async () => {
    const store = await fixture.open();
    await store[Symbol.asyncDispose]();
    await expect(store.log.head("s")).rejects.toMatchObject({ code: "closed" });
    await expect(store.log.setTitle("s", "x")).rejects.toMatchObject({ code: "closed" });
    await store[Symbol.asyncDispose]();
  });

  it("opens many times at once", async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => openStore(fixture.stateDir, { onWarning })));
    for (const store of stores) await store[Symbol.asyncDispose]();
  });
});
