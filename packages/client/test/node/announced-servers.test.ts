import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { announcedServers } from "../../src/node/announced-servers.ts";

let state = "";

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), "gennai-announced-"));
  await chmod(state, 0o700);
  await mkdir(join(state, "servers"), { mode: 0o700 });
});

afterEach(() => rm(state, { recursive: true, force: true }));

const record = (change: object = {}) => ({
  url: "http://127.0.0.1:4321",
  token: "secret",
  pid: process.pid,
  version: "1",
  workspace: "/w",
  startedAt: 1,
  ...change,
});

async function announce(name: string, text: string, mode = 0o600): Promise<void> {
  await writeFile(join(state, "servers", name), text, { mode });
  await chmod(join(state, "servers", name), mode);
}

async function found() {
  const ignored: string[] = [];
  const servers = await announcedServers(state, (_file, reason) => ignored.push(reason));
  return { urls: servers.map(({ url }) => url), ignored: ignored.length };
}

describe("announcedServers", () => {
  it("reads who runs, newest first", async () => {
    await announce("4321.json", JSON.stringify(record()));
    await announce("4322.json", JSON.stringify(record({ url: "http://127.0.0.1:4322", startedAt: 2, future: true })));
    expect(await found()).toEqual({ urls: ["http://127.0.0.1:4322", "http://127.0.0.1:4321"], ignored: 0 });
  });

  it.each([
    { name: "a file for another port", file: "1.json", text: JSON.stringify(record()), ignored: 1 },
    { name: "no JSON", file: "4321.json", text: "{", ignored: 1 },
    {
      name: "a file without a token field",
      file: "4321.json",
      text: JSON.stringify({ url: "http://127.0.0.1:4321" }),
      ignored: 1,
    },
    { name: "a server that is gone", file: "4321.json", text: JSON.stringify(record({ pid: 2 ** 30 })), ignored: 0 },
    {
      name: "another scheme",
      file: "4321.json",
      text: JSON.stringify(record({ url: "https://127.0.0.1:4321" })),
      ignored: 1,
    },
  ])("does not believe $name", async ({ file, text, ignored }) => {
    await announce(file, text);
    expect(await found()).toEqual({ urls: [], ignored });
  });

  it.runIf(process.platform !== "win32")("does not believe a file that others can read", async () => {
    await announce("4321.json", JSON.stringify(record()), 0o644);
    expect(await found()).toEqual({ urls: [], ignored: 1 });
  });

  it.runIf(process.platform !== "win32")("does not follow a link", async () => {
    await writeFile(join(state, "elsewhere"), JSON.stringify(record()), { mode: 0o600 });
    await symlink(join(state, "elsewhere"), join(state, "servers", "4321.json"));
    expect(await found()).toEqual({ urls: [], ignored: 1 });
  });

  it.runIf(process.platform !== "win32")("does not believe a directory that others can write", async () => {
    await announce("4321.json", JSON.stringify(record()));
    await chmod(join(state, "servers"), 0o777);
    expect(await found()).toEqual({ urls: [], ignored: 1 });
  });

  it("finds none where nothing ever ran", async () => {
    await rm(state, { recursive: true });
    expect(await found()).toEqual({ urls: [], ignored: 0 });
  });
});
