import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Finding } from "@gennai/machine/finding";
import { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { runChecks } from "#commands/doctor/doctor-command";
import { cliScene } from "../../cli-scene.ts";

const reportSchema = z.object({
  failed: z.number(),
  warned: z.number(),
  findings: z.array(
    z.object({
      check: z.string(),
      state: z.enum(["ok", "warn", "fail"]),
      text: z.string(),
      next: z.array(z.string()).optional(),
    }),
  ),
});

type Scene = Awaited<ReturnType<typeof cliScene>>;

async function doctor(scene: Scene, ...args: readonly string[]) {
  const { code, out, err } = await scene.run("doctor", "--json", ...args);
  const report = reportSchema.parse(JSON.parse(out));
  return { code, err, out, report, of: (check: string) => report.findings.filter((each) => each.check === check) };
}

/** A scene in which something was done already, so that there is a store, a key and a ledger. */
async function used(): Promise<Scene> {
  const scene = await cliScene({ "a.txt": "a\n" });
  expect(await scene.run("run", "replace a with b in a.txt", "--yes", "--commands", "ask")).toMatchObject({ code: 0 });
  return scene;
}

const rulesOf = (text: string) => (scene: Scene) => scene.repository.write(".gennai/rules.yaml", text);

describe("doctor", () => {
  test("a sound place: nothing fails, and the exit code says so", async () => {
    await using scene = await used();
    const { code, report, of } = await doctor(scene);
    expect(report.findings.filter(({ state }) => state === "fail")).toEqual([]);
    expect(code).toBe(0);
    expect(of("database")).toMatchObject([{ state: "ok", text: expect.stringContaining("is whole") }]);
    expect(of("ledger")).toMatchObject([{ state: "ok", text: expect.stringMatching(/^[1-9]\d* records, sound$/) }]);
    expect(of("server")).toMatchObject([{ state: "ok", text: expect.stringContaining("no server runs") }]);
    expect(of("server.json")).toMatchObject([{ state: "ok", text: expect.stringContaining("watched and ended") }]);
    expect(of("staged commands")).toMatchObject([
      { state: "ok", text: expect.stringContaining("is judged before it is kept") },
    ]);
  });

  test("before the first start there is nothing to complain about", async () => {
    await using scene = await cliScene({ "a.txt": "a\n" });
    await rm(scene.state, { recursive: true });
    const { code, of } = await doctor(scene);
    expect(code).toBe(0);
    expect(of("state directory")).toMatchObject([{ state: "ok" }]);
    expect(of("keys")).toMatchObject([{ state: "ok" }]);
    expect(of("ledger")).toMatchObject([{ state: "ok", text: "Nothing has been recorded yet" }]);
  });

  test.each([
    ["state directory", "fail", "others can write to it", (scene: Scene) => chmod(scene.state, 0o777), /^chmod 700/],
    ["state directory", "warn", "others can look into it", (scene: Scene) => chmod(scene.state, 0o755), /^chmod 700/],
    [
      "keys",
      "fail",
      "others can read the signing key",
      (scene: Scene) => chmod(join(scene.state, "keys", "ledger.ed25519"), 0o644),
      /^chmod 600/,
    ],
    [
      "keys",
      "warn",
      "the signing key is gone",
      (scene: Scene) => rm(join(scene.state, "keys", "ledger.ed25519")),
      /Restore/,
    ],
    ["database", "fail", "it is overwritten in the middle", overwriteMiddle, /restore your backup/],
    [
      "database",
      "fail",
      "it is not a database",
      (scene: Scene) => writeFile(join(scene.state, "gennai.db"), "x".repeat(9_000)),
      /backup/,
    ],
    [
      "ledger",
      "warn",
      "the file is gone",
      (scene: Scene) => rm(scene.repository.path(".orchestration/agent_trace.jsonl")),
      /repair/,
    ],
    ["ledger", "fail", "a record of it was changed", changeRecord, /gennai ledger verify/],
    ["ledger head", "fail", "the store is older than the head", dropLastRecord, /accept-rollback/],
    ["rules", "fail", "a rule file is no YAML", rulesOf("bashToolPatterns: [\n"), /policy test/],
    [
      "hooks",
      "warn",
      "the project's hooks were never trusted",
      (scene: Scene) =>
        scene.repository.write(".gennai/hooks.json", JSON.stringify({ hooks: { PreToolUse: [{ command: "true" }] } })),
      /hooks show/,
    ],
    [
      "mcp",
      "warn",
      "a server was never accepted",
      (scene: Scene) =>
        scene.repository.write(".mcp.json", JSON.stringify({ mcpServers: { files: { command: "files" } } })),
      /mcp accept files/,
    ],
  ] as const)("%s: %s when %s", async (check, state, _what, damage, next) => {
    await using scene = await used();
    await damage(scene);
    const { code, of } = await doctor(scene);
    const [found] = of(check).filter((each) => each.state !== "ok");
    expect(found).toMatchObject({ state });
    expect(found?.next?.join("\n")).toMatch(next);
    if (state === "fail") expect(code).toBe(1);
    await chmod(scene.state, 0o700);
  });

  test("keys of models are named, never shown", async () => {
    await using scene = await cliScene({ "a.txt": "a\n" });
    const console = scene.console();
    console.environment["ANTHROPIC_API_KEY"] = "sk-ant-this-is-the-key-itself";
    console.environment["GENNAI_AUTH_TOKEN"] = "a-token-that-nobody-shows-0000000000000000";
    console.input.end();
    const { runCommandLine } = await import("#command-line");
    await runCommandLine(["doctor", "--json"], console);
    expect(console.printed()).toContain("ANTHROPIC_API_KEY");
    expect(console.printed() + console.complained()).not.toMatch(/sk-ant-this|nobody-shows/);
  });

  test("a server: reached with its token, and told when the token is wrong, nobody is there, or the clock runs apart", async () => {
    await using scene = await cliScene({ "a.txt": "a\n" });
    await using server = await startTestServer();
    const token = scene.repository.path("token");
    await writeFile(token, `${server.token}\n`, { mode: 0o600 });
    const sound = await doctor(scene, "--server", server.url, "--auth-token-file", token);
    expect(sound.of("server")).toMatchObject([{ state: "ok" }]);
    expect(sound.of("version")).toMatchObject([{ state: "warn", text: expect.stringContaining("0.0.0-test") }]);
    expect(sound.of("protocol")).toMatchObject([{ state: "ok" }]);
    expect(sound.of("clock")).toMatchObject([{ state: "ok" }]);

    await writeFile(token, "w".repeat(43));
    const wrong = await doctor(scene, "--server", server.url, "--auth-token-file", token);
    expect([wrong.code, wrong.of("server")[0]?.text]).toEqual([1, `${server.url} does not know this token.`]);

    const nobody = await doctor(scene, "--server", "http://127.0.0.1:9", "--auth-token-file", token);
    expect([nobody.code, nobody.of("server")[0]?.text]).toEqual([1, "Nobody answers at http://127.0.0.1:9."]);

    const slow = createServer((_request, response) => {
      response.sendDate = false;
      response.writeHead(200, { Date: new Date(Date.now() - 90_000).toUTCString() }).end();
    });
    await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
    const address = slow.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    const apart = await doctor(scene, "--server", url, "--auth-token-file", token);
    expect(apart.of("clock")).toMatchObject([{ state: "fail", text: expect.stringMatching(/(89|90|91) s apart/) }]);
    slow.closeAllConnections();
    slow.close();
  });

  test("NATS that does not answer", async () => {
    await using scene = await cliScene({ "a.txt": "a\n" });
    const { code, of } = await doctor(scene, "--log", "nats://127.0.0.1:9");
    expect([code, of("nats")]).toMatchObject([
      1,
      [{ state: "fail", next: [expect.stringContaining("GENNAI_NATS_USER")] }],
    ]);
  });

  test.each([
    [["--server", "localhost:7777"], "not a URL"],
    [["--log", "nats//x"], "--log takes"],
    [["--compare", "http://127.0.0.1:1"], "two servers"],
  ])("a command line that is wrong: %j", async (args, text) => {
    await using scene = await cliScene({ "a.txt": "a\n" });
    expect(await scene.run("doctor", ...args)).toMatchObject({ code: 2, err: expect.stringContaining(text) });
  });

  test("for people, what is to be done stands below what is wrong", async () => {
    await using scene = await used();
    await chmod(scene.state, 0o755);
    const { out, code } = await scene.run("doctor");
    expect(out).toMatch(/^warn {2}state directory Others can look into .*\n {6} {15} -> chmod 700/m);
    expect([code, out.trimEnd().split("\n").at(-1)]).toEqual([
      0,
      expect.stringMatching(/^\d+ checks: 0 failed, \d+ with a warning$/),
    ]);
  });
});

test("single findings: a check that throws is a failure of its own, and the next one runs", async () => {
  const told: Finding[] = [];
  const ok: Finding = { check: "second", state: "ok", text: "" };
  const checks = [
    { name: "first", run: async () => Promise.reject(new Error("It broke.")) },
    { name: "second", run: async () => ok },
  ];
  await runChecks(checks, (finding) => told.push(finding));
  expect(told).toEqual([{ check: "first", state: "fail", text: "It broke." }, ok]);
});

async function overwriteMiddle(scene: Scene): Promise<void> {
  const file = join(scene.state, "gennai.db");
  using database = new SqliteConnection(file, { timeout: 0 });
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const bytes = await readFile(file);
  // The root page of some table, not the first page, which makes it no database at all.
  bytes.fill(0xff, 4096 * 2, 4096 * 6);
  await writeFile(file, bytes);
}

async function changeRecord(scene: Scene): Promise<void> {
  const file = scene.repository.path(".orchestration/agent_trace.jsonl");
  await writeFile(file, (await readFile(file, "utf8")).replace("offline", "oFfline"));
}

async function dropLastRecord(scene: Scene): Promise<void> {
  await mkdir(join(scene.state, "kept"), { recursive: true });
  using database = new SqliteConnection(join(scene.state, "gennai.db"), { timeout: 0 });
  database.exec("DELETE FROM ledger WHERE seq = (SELECT max(seq) FROM ledger)");
}
