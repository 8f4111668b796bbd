import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@gennai/store/sqlite/store";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { plainEntry } from "../../../../governance/test/ledger/plain-entry.ts";
import { testConsole } from "../../test-console.ts";

const marker = "PLANTED-17-MILL-LANE";
const answer = "What the model said.";

test("export, verify as a third party, purge, and export again", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  {
    await using store = await openStore(state.root, { onWarning: () => {} });
    await store.log.create({ sessionId: "s", workspaceRoot: workspace.root, time: 1 });
    const entry = plainEntry({ details: { marker } });
    const said = { type: "text-delta", text: answer } as const;
    const events = [{ turnId: "t", itemId: "", time: 1, event: said }];
    await store.log.append("s", { events, ledger: [entry], durable: true }, { seq: 0, epoch: 1 });
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
  expect(readFileSync(bundle, "utf8")).toContain(marker);
  expect(readFileSync(bundle, "utf8")).not.toContain(answer);
  expect((await gennai("export", "--format", "bundle", "--include", "records,prompts")).printed).toContain(answer);
  expect((await gennai("export", "--format", "bundle", "--include", "none")).printed).not.toMatch(
    new RegExp(`${marker}|${answer}`),
  );
  expect(await gennai("export", "--format", "bundle", "--include", "secrets")).toMatchObject({ code: 2 });
  for (const format of ["agent-trace", "seed001"]) {
    const lines = (...include: string[]) => gennai("export", "--format", format, ...include);
    expect(await lines("--include", "prompts")).toMatchObject({ code: 2, printed: "" });
    expect((await lines("--include", "records")).printed).toBe((await lines()).printed);
    const { printed } = await lines("--include", "none");
    expect(printed).not.toMatch(new RegExp(`${marker}|${answer}`));
    expect(JSON.parse(printed)).toMatchObject({ files: [], metadata: { seq: 1, kind: "session", withheld: true } });
    expect(JSON.parse(printed).metadata).not.toHaveProperty("purged");
  }
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

test("a dry run lists what would leave with a bundle, in figures of the bundle itself, and writes nothing", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  {
    await using store = await openStore(state.root, { onWarning: () => {} });
    await store.log.create({ sessionId: "s", workspaceRoot: workspace.root, time: 1 });
    const said = { type: "text-delta", text: answer } as const;
    const events = [{ turnId: "t", itemId: "", time: 1, event: said }];
    await store.log.append("s", { events, ledger: [], durable: true }, { seq: 0, epoch: 1 });
  }
  const listed = async (...args: string[]) => {
    const console = testConsole(workspace.root, { GENNAI_STATE_DIR: state.root });
    expect(await runCommandLine([...args, "--dry-run", "--out", "b.json"], console)).toBe(0);
    expect(console.printed()).toBe("");
    expect(existsSync(workspace.path("b.json"))).toBe(false);
    return console.complained();
  };
  const bundle = ["ledger", "export", "--format", "bundle"];
  expect(await listed(...bundle)).toMatch(/yes records .*; of 0\n {2}no {2}prompts .* read\n/);
  expect(await listed(...bundle, "--include", "prompts")).toMatch(
    /no {2}records .*\n {2}yes prompts .*; of 1 sessions with 1 events/,
  );
  const ofLines = /yes chain .*\n {2}no {2}key .*\n {2}yes records .*; of 0\n {2}no {2}prompts .*\n {2}no {2}contents /;
  expect(await listed("ledger", "export")).toMatch(ofLines);
  expect(await listed("ledger", "export", "--format", "seed001", "--include", "none")).toMatch(
    /yes chain .*\n {2}no {2}key .*\n {2}no {2}records .*\n {2}no {2}prompts .*\n {2}no {2}contents /,
  );
  expect(await listed("sessions", "export", "s")).toMatch(/yes prompts .*\(1 events\)/);
});
