import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { get } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import { recoverCommits } from "@gennai/stage/commit/recover-commits";
import { openPort } from "#background/open-port";
import type { Scenarios } from "../../../stage/test/run-scenarios.ts";
import { untilNobodySeesBelow } from "../../../stage/test/sees-below.ts";
import { BackgroundFixture, until } from "./background-fixture.ts";
import { holdersOf, networksOf, runningWith } from "./holders.ts";

const files = { "a.txt": "one\n", "src/b.txt": "b\n", ".env": "TOKEN=canary-1\n", ".gitignore": "dist\n" };

const serve = "python3 -u -m http.server 8123 2>&1";
const serving = "Serving HTTP";

/** Prints a line for each change that it is told of, with what the file says then. */
const watcher = `
import { watch, readFileSync, readdirSync } from "node:fs";
const say = (dir, name) => { let now = "gone"; try { now = readFileSync(dir + "/" + name, "utf8").trim(); } catch {} console.log("saw " + name + " " + now); };
for (const dir of process.argv.slice(2)) watch(dir, (_, name) => say(dir, name));
console.log("watching " + readdirSync(".").join(" "));
`;
const node = process.execPath;

export const scenarios: Scenarios = {
  "a server is reached by commands of its session, and by nobody else": async () => {
    await using fixture = await BackgroundFixture.open(files);
    await fixture.start(serve, serving);
    equal(await fixture.foreground("curl -s localhost:8123/a.txt"), "one\n");
    equal(await fixture.foreground("curl -s 127.0.0.1:8123/.env -o /dev/null -w '%{http_code}'"), "404");
    equal(await fixture.foreground("curl -s localhost:8123/a.txt || echo no", "another"), "no\n");
    const here = connect(8123, "127.0.0.1");
    await rejects(once(here, "connect"), /ECONNREFUSED/);
  },

  "there is no way out": async () => {
    await using fixture = await BackgroundFixture.open(files);
    await using local = await listener();
    const reach = `exec 3<>/dev/tcp/127.0.0.1/${local.port} && echo reached; cat /proc/net/dev | tail -n +3 | cut -d: -f1 | xargs`;
    await fixture.start(`${reach}; echo done; sleep 600`, "done");
    ok(!fixture.output.includes("reached"), fixture.output);
    match(fixture.output, /^lo$/m);
    const inside = await fixture.foreground(reach);
    ok(!inside.includes("reached") && /^lo$/m.test(inside), inside);
  },

  "it writes where it likes, and nothing of it is kept": async () => {
    await using fixture = await BackgroundFixture.open(files);
    const before = fixture.stage.tree();
    const write =
      "echo two > a.txt; rm -r src; mkdir -p dist node_modules/.cache; echo x > dist/x; echo x > node_modules/.cache/x; echo wrote; sleep 600";
    const run = await fixture.start(write, "wrote");
    deepEqual(fixture.stage.tree(), before);
    equal(await fixture.foreground("cat a.txt src/b.txt"), "one\nb\n");
    await run.stop();
    deepEqual(fixture.stage.tree(), before);
    deepEqual(leftovers(fixture), []);
  },

  "it sees what others change, and is told": async () => {
    await using fixture = await BackgroundFixture.open({ ...files, "w.mjs": watcher });
    await fixture.start(`'${node}' w.mjs . src`, "watching");
    const { root } = fixture.stage;
    // Looked at by it before: an overlay alone would go on showing that.
    appendFileSync(join(root, "a.txt"), "two\n");
    await fixture.prints("saw a.txt one\ntwo");
    writeFileSync(join(root, "new"), "three\n");
    renameSync(join(root, "new"), join(root, "a.txt"));
    await fixture.prints("saw a.txt three");
    writeFileSync(join(root, "src/n.txt"), "n\n");
    await fixture.prints("saw n.txt n");
    rmSync(join(root, "src/b.txt"));
    await fixture.prints("saw b.txt gone");
  },

  "directories that come, go and are replaced": async () => {
    await using fixture = await BackgroundFixture.open(files);
    const { root } = fixture.stage;
    await fixture.start(serve, serving);
    const shown = (path: string) => fixture.foreground(`curl -s localhost:8123/${path}`);
    equal(await shown("src/b.txt"), "b\n");
    mkdirSync(join(root, "deep/er"), { recursive: true });
    writeFileSync(join(root, "deep/er/c.txt"), "c\n");
    await until(async () => (await shown("deep/er/c.txt")) === "c\n", "the new directory shows");
    writeFileSync(join(root, "deep/er/c.txt"), "d\n");
    await until(async () => (await shown("deep/er/c.txt")) === "d\n", "a change in it shows");
    // As a switch to another branch does.
    renameSync(join(root, "src"), join(root, "old"));
    mkdirSync(join(root, "src"));
    writeFileSync(join(root, "src/z.txt"), "z\n");
    await until(async () => (await shown("src/z.txt")) === "z\n", "the other directory shows");
    await until(async () => (await shown("src/b.txt")).includes("404"), "what was in the first one is gone");
    symlinkSync("a.txt", join(root, "link"));
    await until(async () => (await shown("link")) === "one\n", "a link shows");
    rmSync(join(root, "deep"), { recursive: true });
    await until(async () => (await shown("deep/er/c.txt")).includes("404"), "what was removed is gone");
  },

  "a file that becomes a secret meanwhile is taken away, and one that is saved again stays hidden": async () => {
    await using fixture = await BackgroundFixture.open(files);
    const { root } = fixture.stage;
    await fixture.start(serve, serving);
    const shown = (path: string) => fixture.foreground(`curl -s localhost:8123/${path}`);
    match(await shown("src/"), /b\.txt/);
    writeFileSync(join(root, "src/.env.local"), "TOKEN=canary-2\n");
    writeFileSync(join(root, ".env.new"), "TOKEN=canary-3\n");
    renameSync(join(root, ".env.new"), join(root, ".env"));
    writeFileSync(join(root, "src/after.txt"), "after\n");
    await until(async () => (await shown("src/after.txt")) === "after\n", "what came after shows");
    for (const path of ["src/.env.local", ".env", ".env.new"]) match(await shown(path), /404/, path);
    equal(await fixture.foreground("cat .env src/.env.local 2>/dev/null | wc -c"), "0\n");
  },

  "one that keeps a new secret from being taken away is ended": async () => {
    await using fixture = await BackgroundFixture.open(files);
    const { root } = fixture.stage;
    const run = await fixture.start("chmod 0 src; echo closed; sleep 600", "closed");
    writeFileSync(join(root, "src/.env.local"), "TOKEN=canary-2\n");
    // Root is kept from nothing.
    if (process.getuid?.() === 0) return;
    const end = await run.ended;
    match("how" in end ? end.how : "", /no longer known/);
  },

  "links that it makes in its own view lead nobody outside": async () => {
    await using fixture = await BackgroundFixture.open(files);
    const { root, base } = fixture.stage;
    const outside = join(base, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "b.txt"), "of somebody else\n");
    await fixture.start(
      `rm -r src a.txt; ln -s '${outside}' src; ln -s '${outside}/b.txt' a.txt; mkfifo p; echo made; sleep 600`,
      "made",
    );
    writeFileSync(join(root, "src/b.txt"), "edited\n");
    writeFileSync(join(root, "src/more.txt"), "edited\n");
    writeFileSync(join(root, "a.txt"), "edited\n");
    writeFileSync(join(root, "p"), "edited\n");
    rmSync(join(root, "src/b.txt"));
    writeFileSync(join(root, "last.txt"), "last\n");
    await fixture.start("until [ -e last.txt ]; do sleep 0.05; done; echo seen; sleep 600", "seen");
    deepEqual(readdirSync(outside), ["b.txt"]);
    equal(readFileSync(join(outside, "b.txt"), "utf8"), "of somebody else\n");
  },

  "a port can be opened to this machine, and closed": async () => {
    await using fixture = await BackgroundFixture.open(files);
    await fixture.start(serve, serving);
    const port = await openPort(fixture.network, 8123, 0);
    equal(await fetchText(port.port, "/a.txt"), "one\n");
    equal(
      (await Promise.all(Array.from({ length: 20 }, () => fetchText(port.port, "/a.txt")))).join(""),
      "one\n".repeat(20),
    );
    await rejects(openPort(fixture.network, 8123, port.port), /EADDRINUSE/);
    await port.close();
    await rejects(fetchText(port.port, "/a.txt"), /ECONNREFUSED/);
  },

  "one that ends by itself leaves nothing": async () => {
    await using fixture = await BackgroundFixture.open(files);
    const run = await fixture.start("(sleep 6017 &) ; setsid sleep 6017 & echo bye; exit 3", "bye");
    const end = await run.ended;
    equal("run" in end && end.run.exitCode, 3);
    deepEqual(leftovers(fixture), []);
    equal(runningWith("sleep 6017"), 0);
  },

  "the network ends with its session": async () => {
    const fixture = await BackgroundFixture.open(files);
    await fixture.start("python3 -u -m http.server 8124 2>&1", serving);
    const [network = "", ...more] = networksOf("http.server 8124");
    deepEqual([network.startsWith("net:"), more], [true, []]);
    await fixture[Symbol.asyncDispose]();
    equal(holdersOf(network), 0);
  },

  "nothing is left of it when the server is killed": async () => {
    const program = fileURLToPath(new URL("serving-program.ts", import.meta.url));
    const port = 8_200 + (process.getuid?.() === 0 ? 0 : 1);
    const child = spawn(process.execPath, [program, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(child.stdout, "data");
    const base = String(line).trim();
    const [network = ""] = networksOf(`http.server ${port}`);
    ok(network !== "");
    child.kill("SIGKILL");
    await once(child, "exit");
    await until(() => runningWith(`http.server ${port}`) === 0, "the server has ended");
    await until(() => holdersOf(network) === 0, "nobody has the network any more");
    await untilNobodySeesBelow(base);
    await recoverCommits(join(base, "state"));
    deepEqual(readdirSync(join(base, "state/stages")), []);
    deepEqual(readdirSync(join(base, "workspace")), ["a.txt"]);
    await removeTree(base);
  },
};

function leftovers(fixture: BackgroundFixture): readonly string[] {
  const stages = join(fixture.stage.stateDir, "stages");
  return existsSync(stages) ? readdirSync(stages) : [];
}

/** Something on this machine's loopback. */
async function listener() {
  const server = createServer((socket) => socket.end("hello")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("It has no port.");
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function fetchText(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ port, path, host: "127.0.0.1", agent: false }, (response) => text(response).then(resolve, reject)).on(
      "error",
      reject,
    );
  });
}
