import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@gennai/store/sqlite/store";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { testConsole } from "../../test-console.ts";

const marker = "PLANTED-17-MILL-LANE";

test("export, verify as a third party, purge, and export again", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  {
    await using store = await openStore(state.root, { onWarning: () => {} });
    await store.log.create({ sessionId: "s", workspaceRoot: workspace.root, time: 1 });
    const entry = {
      kind: "session",
      time: 1,
      sessionId: "s",
      turnId: "",
      modelId: "",
      revision: "",
      calls: [],
      files: [],
      details: { marker },
    } as const;
    await store.log.append("s", { events: [], ledger: [entry], durable: true }, { seq: 0, epoch: 1 });
    await store.flushLedgers();
  }
  const gennai = async (...args: string[]) => {
    const console = testConsole(workspace.root, { GENNAI_STATE_DIR: state.root });
    const code = await runCommandLine(["ledger", ...args], console);
    return { code, printed: console.printed(), complained: console.complained() };
  };
  const key = join(state.root, "keys", "ledger.ed25519.pub");

  expect(JSON.parse((await gennai("export")).printed)).toMatchObject({
    version: "0.1.0",
    metadata: { seq: 1, details: { marker } },
  });
  expect(await gennai("export", "--format", "bundle", "--out", "a.json")).toMatchObject({ code: 0 });
  const bundle = workspace.path("a.json");
  expect(statSync(bundle).mode & 0o777).toBe(0o600);
  expect(await gennai("export", "--out", "a.json")).toMatchObject({ code: 2 });
  expect(await gennai("export", "--format", "csv")).toMatchObject({
    code: 2,
    complained: expect.stringContaining("agent-trace, bundle, seed001"),
  });
  expect(await gennai("verify", "--bundle", "a.json", "--public-key", key)).toMatchObject({
    code: 0,
    printed: expect.stringMatching(/^ok/),
  });
  expect((await gennai("verify", "--bundle", "a.json")).printed).toContain("the bundle's own");
  writeFileSync(workspace.path("forged.json"), readFileSync(bundle, "utf8").replace(marker, "PLANTED-18-MILL-LANE"));
  expect(await gennai("verify", "--bundle", "forged.json", "--public-key", key)).toMatchObject({ code: 11 });

  expect(await gennai("purge")).toMatchObject({ code: 3, complained: expect.stringContaining("--yes") });
  expect((await gennai("export")).printed).toContain(marker);
  expect(await gennai("purge", "--yes")).toMatchObject({
    code: 0,
    printed: expect.stringContaining("Purged 1 sessions"),
  });
  expect((await gennai("export")).printed).not.toContain(marker);
  expect(await gennai("verify")).toMatchObject({ code: 0, printed: expect.stringContaining("1 of them purged") });
  expect((await gennai("purge", "--yes")).printed).toBe("There was nothing to purge.\n");
  expect(await gennai("purge", "--yes", "--session", "s")).toMatchObject({
    code: 1,
    complained: expect.stringContaining("no session s"),
  });
});
