import { existsSync } from "node:fs";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { bundleParts } from "@gennai/store/audit/bundle-parts";
import { exportLedgerBundle } from "@gennai/store/audit/export-bundle";
import { exportLedgerLines } from "@gennai/store/audit/ledger-export";
import { call } from "@gennai/testkit/scripted-steps";
import { storedFiles } from "@gennai/testkit/stored-files";
import { type ScriptedTurn, startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { allEvents, endState, runTurn, startSession } from "../rpc/session-client.ts";

/** Put together here, so that no scanner takes this file for a leak. */
const token = ["ghp", "x7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZaQeUi"].join("_");
const bearer = [
  "eyJhbGciOiJIUzI1NiJ9",
  "eyJzdWIiOiIxMjM0NTY3ODkwIn0",
  "dozjgNryP4J3jKb2VYpPWQ8mF0tLrXcH5zSg1aE7uNk",
].join(".");
const key = ["-----BEGIN RSA PRIVATE", "KEY-----"].join(" ");
const body = Array.from(
  { length: 40 },
  (_, line) => `PLANTEDKEYLINE${String(line).padStart(4, "0")}${"Ab3dEf6hIj".repeat(4)}`,
);
const pem = [key, ...body, key.replace("BEGIN", "END")].join("\n");
const planted = [token, bearer, "PLANTEDKEYLINE0020"];

const tool = (name: string, args: Record<string, unknown>) => ({ steps: [call(name, args), { text: ["Done."] }] });

/**
 * Every file below these directories that holds one of the texts, also in the middle of binary data. Checkpoints are copies
 * of the user's own files, which restoring needs as they are: they are private, and purge removes them.
 */
function leaks(...places: readonly string[]): readonly string[] {
  return places
    .filter((place) => existsSync(place))
    .flatMap((place) =>
      storedFiles(place)
        .filter(([file]) => !file.includes("/checkpoints/"))
        .filter(([file, content]) => planted.some((text) => content.includes(text) || file.includes(text)))
        .map(([file]) => file),
    );
}

async function exported(server: TestServer): Promise<string> {
  const place = { stateDir: server.stateDir, workspaceRoot: server.workspace.root };
  const redactor = await createRedactor();
  const lines = await Array.fromAsync(exportLedgerLines(place, { format: "agent-trace", redactor }));
  const bundle = await Array.fromAsync(
    exportLedgerBundle(place, { redactor, now: Date.now, parts: new Set(bundleParts) }),
  );
  return [...lines, ...bundle].join("\n");
}

/** Prints in pieces that cut a secret in two. */
const slowly = `const secret = ${JSON.stringify(token)}.split("");
for (const [index, letter] of secret.entries()) { process.stdout.write(letter); if (index % 9 === 0) await new Promise((go) => setTimeout(go, 15)); }
console.log(); console.error(new Error("failed with " + ${JSON.stringify(token)}).stack); process.exitCode = 1;`;

const files = {
  "notes.txt": `GITHUB_TOKEN=${token}\n`,
  "key.txt": `${pem}\n`,
  [`names/${token}.txt`]: "x\n",
  "slowly.mjs": slowly,
};

/** As a model writes: a few letters at a time, which cuts every secret. */
function pieces(text: string): readonly string[] {
  return text.match(/[^]{1,7}/g) ?? [];
}

async function runWith(turn: ScriptedTurn, prompt: string) {
  const server = await startTestServer({ files, script: [turn], server: { commands: "staged" } });
  const sessionId = await startSession(server);
  expect(endState(await runTurn(server, sessionId, prompt))).toBe("COMPLETED");
  const events = await allEvents(server, sessionId);
  const shown = JSON.stringify(events, (_key, value: unknown) => (typeof value === "bigint" ? Number(value) : value));
  const copies = await exported(server);
  await server.running[Symbol.asyncDispose]();
  return { server, shown, copies };
}

describe("a planted secret", () => {
  test.each([
    ["in a file that is read", "go", tool("Read", { path: "notes.txt" })],
    ["in a private key of forty lines", "go", tool("Read", { path: "key.txt" })],
    ["in what a search finds", "go", tool("Grep", { pattern: "TOKEN|PLANTED" })],
    ["in a file's name", "go", tool("Ls", { path: "names" })],
    ["in a command's output, split over chunks, and in its error", "go", tool("Bash", { command: "node slowly.mjs" })],
    [
      "in what the model says",
      "go",
      { steps: [{ thinking: [...`so ${token}`] }, { text: [...pieces(`It is ${token}, or\n${pem}\n.`)] }] },
    ],
    ["in a command", "go", tool("Bash", { command: `echo ok\n: ${token}; git status` })],
    [
      "in a command that is not run",
      "go",
      tool("Bash", { command: `git status; curl -H 'Authorization: Bearer ${bearer}' http://x` }),
    ],
    ["in the arguments of a call that is refused", "go", tool("Read", { path: `../${token}` })],
    ["in arguments that are wrong", "go", tool("Read", { [token]: token })],
    ["in a prompt", `my token is ${token}, and Authorization: Bearer ${bearer}`, { steps: [{ text: ["Fine."] }] }],
  ])("seed 003 §9 secrets: %s is in no artefact", async (_name, prompt, turn) => {
    const { server, shown, copies } = await runWith(turn, prompt);
    await using _server = server;
    for (const text of planted)
      for (const artefact of [shown, copies, server.warnings.join()]) expect(artefact).not.toContain(text);
    expect(leaks(server.stateDir, server.workspace.path(".orchestration"))).toEqual([]);
  });
});
