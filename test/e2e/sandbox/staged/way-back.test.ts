import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { bash } from "@gennai/testkit/scripted-steps";
import type { TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { eventsOf, startSession, Watcher } from "../../rpc/session-client.ts";
import { staging } from "./staging.ts";

/** More than the session's own store takes of one command, in number and in size. */
const many = 1_001;
const large = Buffer.alloc(17 * 1024 * 1024, "large ");
const files = Object.fromEntries(Array.from({ length: many }, (_, at) => [`many/${at}.txt`, `${at}\n`]));

/** Every entry but git's and the ledger's, with its mode and what it holds. */
function treeAt(root: string): Readonly<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (/^\.(?:git|orchestration)(?:\/|$)/.test(name)) continue;
    const stat = lstatSync(join(root, name));
    const mode = (stat.mode & 0o777).toString(8);
    const text = stat.isSymbolicLink()
      ? readlinkSync(join(root, name))
      : stat.isFile() && stat.size < 1_000
        ? readFileSync(join(root, name), "utf8")
        : stat.isFile() && String(Buffer.compare(readFileSync(join(root, name)), large));
    tree[name] = `${stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "link" : "file"} ${mode} ${text}`;
  }
  return tree;
}

/** Runs a turn, and says yes if it is asked. */
async function yesTo(server: TestServer, input = "go"): Promise<string> {
  const sessionId = await startSession(server, { interactive: true });
  await using editor = await Watcher.attach(server, sessionId);
  const { turnId } = await server.client.startTurn({ sessionId, userInput: input, clientTurnId: input });
  const ended = editor.end(turnId);
  const asked = await Promise.race([ended.then(() => undefined), editor.next("confirmationRequest")]);
  if (asked !== undefined) await editor.answer(asked);
  expect(await ended).toBe("COMPLETED");
  expect(eventsOf(editor.events, "checkpointTaken")).toEqual([]);
  return sessionId;
}

/** Where what commits replaced is kept. */
function waysBack(stateDir: string): readonly string[] {
  const stages = join(stateDir, "stages");
  const names = existsSync(stages) ? readdirSync(stages) : [];
  return names.map((name) => join(stages, name)).filter((path) => existsSync(join(path, "way-back.json")));
}

test("all that a command changed goes back after a restart; with the session go the earlier files", async () => {
  const commands = [
    "rm -r many private; printf small > large.bin",
    "chmod 755 a.txt large.bin; chmod 700 shared; ln -sf large.bin link; ln -s a.txt made; rm gone; mkdir -p new/deep",
    "for each in a.txt many/*; do echo more >> $each; done",
  ];
  const inputs = commands.map((_, at) => `turn-${at}`);
  await using server = await staging(commands, { "a.txt": "one\n", ...files }, {}, { inputs });
  const { root } = server.workspace;
  writeFileSync(join(root, "large.bin"), large);
  for (const [directory, mode] of [
    ["shared", 0o755],
    ["private", 0o700],
    ["private/empty", 0o750],
  ] as const) {
    mkdirSync(join(root, directory));
    chmodSync(join(root, directory), mode);
  }
  writeFileSync(join(root, "private/key"), "k\n", { mode: 0o600 });
  symlinkSync("a.txt", join(root, "link"));
  symlinkSync("nowhere", join(root, "gone"));
  const before = treeAt(root);
  for (const input of inputs) {
    const sessionId = await yesTo(server, input);
    expect(treeAt(root)).not.toEqual(before);
    await server.restart();
    const { skipped } = await server.client.undoChangeSet({ sessionId });
    expect(skipped).toEqual([]);
    expect(treeAt(root)).toEqual(before);
    await server.client.deleteSession({ sessionId });
    expect(waysBack(server.stateDir)).toEqual([]);
  }
});

test("nothing is overwritten; what is no longer kept is said before the rest goes back", async () => {
  await using server = await staging(["rm -r many large.bin; echo two > a.txt"], { "a.txt": "one\n", ...files });
  const { root } = server.workspace;
  writeFileSync(join(root, "large.bin"), large);
  const sessionId = await yesTo(server);
  const undo = (dryRun = false) => server.client.undoChangeSet({ sessionId, dryRun });
  await server.workspace.write("many/7.txt", "the user's\n");
  await expect(undo()).rejects.toThrow("many/7.txt changed since");
  expect(existsSync(join(root, "large.bin"))).toBe(false);
  rmSync(join(root, "many"), { recursive: true });

  const [way = ""] = waysBack(server.stateDir);
  const old = join(way, "root-0/old");
  const isLarge = (name: string) => lstatSync(join(old, name)).size === large.length;
  rmSync(join(old, readdirSync(old).find(isLarge) ?? ""));
  const planned = await undo(true);
  expect(planned.skipped).toMatchObject([{ path: "large.bin" }]);
  expect(await server.workspace.read("a.txt")).toBe("two\n");
  const undone = await undo();
  expect(undone.skipped).toEqual(planned.skipped);
  expect(await server.workspace.git("status", "--porcelain")).toBe("");
});

test("a server that is killed in a commit, or right after it, knows afterwards how to take it back", async () => {
  for (const isReached of [isTaking, isComplete]) {
    await using server = await serveGennai({
      files,
      script: [{ steps: [bash("for f in many/*; do echo more >> $f; done")] }],
      args: ["--commands", "staged"],
    });
    const { workspace, stateDirectory, client } = server;
    const before = treeAt(workspace.root);
    const { sessionId } = await client.startSession({ interactive: false });
    const turn = Array.fromAsync(client.invoke({ sessionId, userInput: "go" })).catch(() => undefined);
    while (!waysBack(stateDirectory).some(isReached)) await delay(1);
    await server.kill();
    await turn;
    await server.restart();
    expect(await workspace.read("many/7.txt")).toBe("7\nmore\n");
    await client.undoChangeSet({ sessionId });
    expect(treeAt(workspace.root)).toEqual(before);
  }
});

function isTaking(way: string): boolean {
  return readdirSync(join(way, "root-0/old")).length > 100;
}

function isComplete(way: string): boolean {
  return existsSync(join(way, "committed.json"));
}
