import { spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { announcedServers } from "@gennai/client/node/announced-servers";
import { UnsafeFileError } from "@gennai/machine/private-file";
import type { DiscoveryRecord } from "@gennai/protocol/discovery";
import { writeDiscovery } from "@gennai/server/http/discovery";
import { beforeEach, describe, expect, test, vi } from "vitest";

let root = "";
let state = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "gennai-discovery-"));
  state = join(root, "state");
  const made = root;
  return () => rm(made, { recursive: true, force: true });
});

function record(port: number, changes: Partial<DiscoveryRecord> = {}): DiscoveryRecord {
  return {
    url: `http://127.0.0.1:${port}`,
    token: `token-${port}`,
    pid: process.pid,
    version: "0.1.0",
    workspace: "/work",
    startedAt: port,
    ...changes,
  };
}

const file = (name: string): string => join(state, "servers", name);

async function found(): Promise<{ ports: string[]; ignored: string[] }> {
  const { servers, ignored } = await announcedServers(state);
  return { ports: servers.map(({ url }) => new URL(url).port), ignored: ignored.map(({ reason }) => reason) };
}

test("what one server writes another process finds, newest first", async () => {
  await using _first = await writeDiscovery(state, record(7001));
  await using _second = await writeDiscovery(state, record(7002));
  expect((await announcedServers(state)).servers).toEqual([record(7002), record(7001)]);
  expect((await announcedServers(state, { port: 7001 })).servers).toEqual([record(7001)]);
  expect((await announcedServers(state, { port: 700 })).servers).toEqual([]);
});

test("files are 0600 in a 0700 directory, and nothing is left beside them", async () => {
  await using _one = await writeDiscovery(state, record(7001));
  expect((await stat(file("7001.json"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(state, "servers"))).mode & 0o777).toBe(0o700);
  expect((await stat(state)).mode & 0o777).toBe(0o700);
  expect(await readdir(join(state, "servers"))).toEqual(["7001.json"]);
});

test("a server removes its own file, not its successor's", async () => {
  const first = await writeDiscovery(state, record(7001));
  const second = await writeDiscovery(state, record(7001, { token: "next" }));
  await first[Symbol.asyncDispose]();
  expect(JSON.parse(await readFile(file("7001.json"), "utf8"))).toMatchObject({ token: "next" });
  await second[Symbol.asyncDispose]();
  expect(await readdir(join(state, "servers"))).toEqual([]);
  await second[Symbol.asyncDispose]();
});

test("servers on unix sockets and without a token are found too", async () => {
  const onSocket = record(80, { url: "http://localhost", socketPath: join(state, "a.sock"), token: null });
  await using _one = await writeDiscovery(state, onSocket);
  expect((await announcedServers(state)).servers).toEqual([onSocket]);
});

test("what a newer server says besides is passed over", async () => {
  await using _one = await writeDiscovery(state, record(7001));
  await writeFile(file("7001.json"), JSON.stringify({ ...record(7001), future: true }));
  expect((await announcedServers(state)).servers).toEqual([record(7001)]);
});

test("a shared server of 0.2 is found, whose options had other names", async () => {
  const shared = { sandbox: "auto", stages: "auto", protectedBranches: [] };
  await using _one = await writeDiscovery(state, record(7001, { shared }));
  expect(await found()).toEqual({ ports: ["7001"], ignored: [] });
});

test("nothing there is no error", async () => {
  expect(await announcedServers(join(root, "none"))).toEqual({ servers: [], ignored: [] });
});

describe("what is not believed", () => {
  test.each<[string, string, () => Promise<unknown>]>([
    ["readable by others", "chmod 600", () => chmod(file("7001.json"), 0o644)],
    [
      "a link",
      "is a link",
      async () => {
        await rename(file("7001.json"), join(root, "moved"));
        await symlink(join(root, "moved"), file("7001.json"));
      },
    ],
    [
      "a FIFO",
      "not a regular file",
      async () => {
        await rm(file("7001.json"));
        expect(spawnSync("mkfifo", ["-m", "600", file("7001.json")]).status).toBe(0);
      },
    ],
    ["no JSON", "not a discovery file", () => writeFile(file("7001.json"), "{")],
    ["another shape", "not a discovery file", () => writeFile(file("7001.json"), '{"url":"http://127.0.0.1:7001"}')],
    [
      "another scheme",
      "not a discovery file",
      () => writeFile(file("7001.json"), JSON.stringify(record(7001, { url: "file:///etc" }))),
    ],
    ["another port", "another server", () => writeFile(file("7001.json"), JSON.stringify(record(7002)))],
  ])("%s", async (_name, reason, spoil) => {
    await using _one = await writeDiscovery(state, record(7001));
    await spoil();
    expect(await found()).toEqual({ ports: [], ignored: [expect.stringContaining(reason)] });
  });

  test("a server that is gone", async () => {
    const gone = spawnSync(process.execPath, ["-e", ""]).pid;
    await using _one = await writeDiscovery(state, record(7001, { pid: gone }));
    expect(await found()).toEqual({ ports: [], ignored: [expect.stringContaining("no longer running")] });
  });

  test("another user's file", async () => {
    await using _one = await writeDiscovery(state, record(7001));
    const own = vi.spyOn(process, "getuid").mockReturnValue(12_345);
    const seen = await found();
    own.mockRestore();
    expect(seen).toEqual({ ports: [], ignored: [expect.stringContaining("another user")] });
  });

  test.each([0o777, 0o720])("a directory of mode %o, neither to read nor to write", async (mode) => {
    await using _one = await writeDiscovery(state, record(7001));
    await chmod(join(state, "servers"), mode);
    expect(await found()).toEqual({ ports: [], ignored: [expect.stringContaining("other users can change")] });
    await expect(writeDiscovery(state, record(7002))).rejects.toThrow(UnsafeFileError);
  });

  test("a linked directory", async () => {
    await mkdir(join(root, "elsewhere"), { mode: 0o700 });
    await mkdir(state, { mode: 0o700 });
    await symlink(join(root, "elsewhere"), join(state, "servers"));
    await expect(writeDiscovery(state, record(7001))).rejects.toThrow();
    expect(await readdir(join(root, "elsewhere"))).toEqual([]);
  });
});
