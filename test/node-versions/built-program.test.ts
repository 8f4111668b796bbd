import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type TemporaryDirectory, temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveGennai } from "../e2e/process/serve-gennai.ts";

/** As people start it, under the Node that runs this test; `npm test` builds it. */
const program = fileURLToPath(new URL("../../dist/gennai.mjs", import.meta.url));
const files = { "src/a.txt": "colour\n", "src/b.txt": "colours\n" };

let home: TemporaryDirectory;
beforeAll(async () => {
  home = await temporaryDirectory();
});
afterAll(() => home[Symbol.asyncDispose]());

interface Finished {
  readonly code: unknown;
  /** What it printed, and what it printed and complained of. */
  readonly out: string;
  readonly all: string;
}

/** Runs it to its end, in `directory`. Fails when Node itself had something to say. */
async function gennai(directory: string, ...args: readonly string[]): Promise<Finished> {
  const own = Object.entries(process.env).filter(([name]) => !/^(GENNAI_|XDG_|NODE_OPTIONS)/.test(name));
  const child = spawn(process.execPath, [program, ...args], {
    cwd: directory,
    env: { ...Object.fromEntries(own), HOME: home.root, GENNAI_STATE_DIR: home.path("state"), NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [[code], out, complaints] = await Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]);
  expect(complaints).not.toMatch(/\(node:\d+\)/);
  return { code, out, all: `${out}${complaints}` };
}

test("the doctor finds this Node new enough, and nothing to mend", async () => {
  await using workspace = await temporaryRepository(files);
  const { out } = await gennai(workspace.root, "doctor");
  expect(out).toContain(`ok    node            Node ${process.versions.node}\n`);
  expect(out).toMatch(/ 0 failed/);
});

test("run changes files, undo takes it back, and every step is in a ledger that verifies", async () => {
  await using workspace = await temporaryRepository(files);
  const run = await gennai(workspace.root, "run", "replace colour with color in src/*.txt", "--commands", "ask");
  expect(run).toMatchObject({ code: 0 });
  expect([await workspace.read("src/a.txt"), await workspace.read("src/b.txt")]).toEqual(["color\n", "colors\n"]);
  expect(await gennai(workspace.root, "undo")).toMatchObject({ code: 0 });
  expect([await workspace.read("src/a.txt"), await workspace.read("src/b.txt")]).toEqual(["colour\n", "colours\n"]);
  expect((await gennai(workspace.root, "ledger", "verify")).out).toMatch(/^ok {2}\d+ records?, chained and signed\./);
  expect((await gennai(workspace.root, "sessions")).out).toContain("replace colour with color");
  expect(await gennai(workspace.root, "ledger", "rotate-key")).toMatchObject({ code: 0 });
  expect(await gennai(workspace.root, "ledger", "verify")).toMatchObject({ code: 0 });
});

test("what a command changed is taken back from the checkpoint before it", async () => {
  await using workspace = await temporaryRepository(files);
  const run = await gennai(workspace.root, "run", "run mv src/b.txt src/c.txt", "--commands", "ask", "--yes");
  expect(run).toMatchObject({ code: 0 });
  expect(await workspace.read("src/c.txt")).toBe("colours\n");
  expect(await gennai(workspace.root, "undo", "--turn", "1")).toMatchObject({ code: 0 });
  expect(await workspace.read("src/b.txt")).toBe("colours\n");
  expect(existsSync(workspace.path("src/c.txt"))).toBe(false);
});

test("a plan is written, approved, run and verified", async () => {
  await using workspace = await temporaryRepository(files);
  const { out } = await gennai(workspace.root, "plan", "new", "--json", "create c.txt with text then verify cat c.txt");
  const { plan } = JSON.parse(out.trimEnd().split("\n").at(-1) ?? "") as { plan: { planId: string; digest: string } };
  for (const step of [["preview"], ["approve", "--digest", plan.digest], ["execute"], ["verify"]]) {
    const [name = "", ...rest] = step;
    expect(await gennai(workspace.root, "plan", name, plan.planId, ...rest), name).toMatchObject({ code: 0 });
  }
  expect(await workspace.read("c.txt")).toBe("text\n");
});

test("serve shows the page, and goes on with its sessions after it was started anew", async () => {
  await using server = await serveGennai({ files });
  const page = await fetch(server.url);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("/assets/repl.js")]);
  await home.write("token", server.token);
  const at = ["--server", server.url, "--auth-token-file", home.path("token")];
  const { root } = server.workspace;
  const first = await gennai(root, "run", "replace colour with color in src/a.txt", ...at);
  const session = /^Session (\S+)/m.exec(first.all)?.[1] ?? "";
  expect([first.code, await server.workspace.read("src/a.txt")]).toEqual([0, "color\n"]);
  await server.restart();
  expect(await gennai(root, "run", "show src/a.txt", "--resume", session, ...at)).toMatchObject({ code: 0 });
  expect(await gennai(root, "undo", "--session", session, ...at)).toMatchObject({ code: 0 });
  expect(await server.workspace.read("src/a.txt")).toBe("colour\n");
});
