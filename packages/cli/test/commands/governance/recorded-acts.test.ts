import { userInfo } from "node:os";
import { expect, test } from "vitest";
import { cliScene } from "../../cli-scene.ts";

const intents = 'active_intents:\n  - {id: INT-001, name: n, status: active, owned_scope: ["src/**"]}\n';
const files = {
  ".orchestration/active_intents.yaml": intents,
  ".gennai/hooks.json": JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "true" }] }] } }),
  ".mcp.json": JSON.stringify({ mcpServers: { files: { command: "true" } } }),
};

test("also of a workspace that is a part of a repository, and has no ledger yet", async () => {
  await using here = await cliScene({ "part/a.txt": "a\n" });
  const part = ["--workspace", here.repository.path("part")];
  expect(await here.run("intents", "mode", "off", ...part)).toMatchObject({ code: 0 });
  expect((await here.run("ledger", "show", ...part)).out).toContain("intents off, before auto, by ");
});

test("who changed what governs a workspace is in its ledger, in words", async () => {
  await using here = await cliScene(files);
  const acts: readonly (readonly [words: string, ...args: string[]])[] = [
    ["intents required, before auto", "intents", "mode", "required"],
    ["intents file accepted (SHA-256 ", "intents", "accept"],
    ["intents off, before required", "intents", "mode", "off"],
    ["hooks file trusted (SHA-256 ", "hooks", "trust"],
    ["MCP server files accepted", "mcp", "accept", "files"],
    [
      "lasting answer given ahead: npm install reaches registry.example:443",
      "answers",
      "allow",
      "npm install",
      "registry.example:443",
    ],
    ["lasting answer revoked: npm install reaches registry.example:443", "answers", "revoke", "--all"],
  ];
  for (const [words, ...args] of acts) {
    expect(await here.run(...args), args.join(" ")).toMatchObject({ code: 0, err: "" });
    const newest = (await here.run("ledger", "show", "--limit", "1")).out;
    expect(newest).toContain(words);
    expect(newest).toContain(`, by ${userInfo().username} (cli)`);
  }
  expect((await here.run("ledger", "verify")).code).toBe(0);
  // What changed nothing leaves no record, and neither does looking.
  const before = (await here.run("ledger", "show", "--json")).out;
  await here.run("intents", "mode");
  await here.run("answers", "revoke", "--all");
  await here.run("mcp", "accept", "none");
  expect((await here.run("ledger", "show", "--json")).out).toBe(before);
});
