import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { testConsole } from "../../test-console.ts";

async function open(stateDir: string, directory: string, ...args: readonly string[]) {
  const console = testConsole(directory, { GENNAI_STATE_DIR: stateDir });
  const code = await runCommandLine(["open", ...args], console);
  return { code, printed: console.printed(), complained: console.complained() };
}

test("prints a fresh link of the running server, and shuts pages out", async () => {
  await using page = await temporaryDirectory({ "repl.js": "" });
  await using server = await startTestServer({ server: { announce: true, pageDirectory: page.root } });
  const exchange = async (link: string) => {
    const { origin, hash } = new URL(link);
    const response = await fetch(`${origin}/page/token`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: origin },
      body: JSON.stringify({ code: hash.slice(1) }),
    });
    return { status: response.status, body: await response.json() };
  };
  for (const args of [[], ["--port", String(server.port)], ["--workspace", server.workspace.root]]) {
    const opened = await open(server.stateDir, page.root, ...args);
    expect(opened).toMatchObject({ code: 0, complained: "" });
    const link = /^Open (http:\/\/127\.0\.0\.1:\d+\/#[\w-]{32})\n$/.exec(opened.printed)?.[1] ?? "";
    expect((await exchange(link)).status).toBe(200);
    expect((await exchange(link)).status).toBe(403);
  }
  const { printed } = await open(server.stateDir, page.root, "--close-all");
  expect(printed).toContain("shut out");
});

test.each([
  ["nothing runs", [], "No server of yours is running."],
  ["nothing runs there", ["--port", "1"], "No server of yours is running."],
  ["the port is none", ["--port", "x"], "--port takes a number"],
])("says what to do when %s", async (_what, args, wanted) => {
  await using directory = await temporaryDirectory();
  const opened = await open(directory.root, directory.root, ...args);
  expect(opened).toMatchObject({ code: 2, printed: "" });
  expect(opened.complained).toContain(wanted);
});

test("says so when the server serves no page", async () => {
  await using server = await startTestServer({ server: { announce: true } });
  const opened = await open(server.stateDir, server.workspace.root);
  expect(opened.code).toBe(1);
  expect(opened.complained).toContain("serves no page");
});

test("says why a server that is named is not reached", async () => {
  await using directory = await temporaryDirectory({ token: "a".repeat(43) });
  // By https its certificate would say who it is; nobody is there to show one.
  const opened = await open(
    directory.root,
    directory.root,
    "--server",
    "https://127.0.0.1:2",
    "--auth-token-file",
    "token",
  );
  expect(opened).toMatchObject({ code: 1, printed: "" });
  expect(opened.complained).toContain("https://127.0.0.1:2 cannot be reached: connect ECONNREFUSED");
  expect(opened.complained).toContain("trusts its certificate");
});
