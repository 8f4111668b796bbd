import { existsSync } from "node:fs";
import { runCommandLine } from "@gennai/cli/command-line";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { testConsole } from "../../../packages/cli/test/test-console.ts";

const files = { "src/a.ts": "let colour = 1;\n" };

async function gennai(server: TestServer, ...args: readonly string[]) {
  const console = testConsole(server.workspace.root, { GENNAI_STATE_DIR: server.stateDir, PATH: process.env["PATH"] });
  console.input.end();
  const code = await runCommandLine(args, console);
  return { code, out: console.printed(), err: console.complained() };
}

async function approved(server: TestServer, request: string) {
  const made = JSON.parse(
    (await gennai(server, "plan", "new", request, "--json")).out.trimEnd().split("\n").at(-1) ?? "",
  );
  const { sessionId, plan } = made as { sessionId: string; plan: { planId: string; digest: string } };
  const { out } = await gennai(server, "plan", "approve", plan.planId, "--digest", plan.digest, "--json");
  return { sessionId, id: plan.planId, token: (JSON.parse(out) as { approvalToken: string }).approvalToken };
}

test("over a running server the token itself decides: once, for its own plan and session", async () => {
  await using server = await startTestServer({ files, server: { announce: true } });
  const first = await approved(server, "create one.txt with x");
  const second = await approved(server, "create two.txt with x");
  expect((await gennai(server, "plan", "execute", first.id, "--token", second.token)).code).toBe(3);
  expect((await gennai(server, "plan", "execute", first.id, "--token", "A".repeat(43))).code).toBe(3);
  expect((await gennai(server, "plan", "execute", first.id, "--session", second.sessionId)).code).toBe(3);
  expect(existsSync(server.workspace.path("one.txt"))).toBe(false);

  expect((await gennai(server, "plan", "execute", first.id)).code).toBe(0);
  expect((await gennai(server, "plan", "execute", first.id, "--token", first.token)).code).toBe(3);
  expect((await gennai(server, "plan", "verify", first.id, "--token", second.token)).code).toBe(3);
  expect((await gennai(server, "plan", "verify", first.id)).code).toBe(0);
  expect(await server.workspace.read("one.txt")).toBe("x\n");
});

test("an approval outlives the server that gave it, and runs once", async () => {
  await using server = await startTestServer({ files, server: { announce: true } });
  const { id, token } = await approved(server, "create one.txt with x");
  await server.restart();
  expect((await gennai(server, "plan", "status", id)).out).toContain("awaiting approval");
  expect((await gennai(server, "plan", "execute", id)).code).toBe(0);
  expect(existsSync(server.workspace.path("one.txt"))).toBe(true);
  await server.restart();
  expect((await gennai(server, "plan", "execute", id, "--token", token)).code).toBe(3);
});
