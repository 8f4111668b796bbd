import { readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { git } from "@gennai/git/run/run-git";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { serveBanner } from "#commands/serve/banner";
import { copySampleWorkspace } from "#commands/serve/sample-workspace";
import { defaultSettings } from "#connection/default-settings";
import { testConsole } from "../../test-console.ts";

test("a port that is taken is named, with a free one", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const address = other.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  await using state = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  const console = testConsole(workspace.root, { GENNAI_STATE_DIR: state.root });
  expect(await runCommandLine(["--serve", "--port", String(port)], console)).toBe(2);
  expect(console.complained()).toContain(`Port ${port} on 127.0.0.1 is taken`);
  expect(console.complained()).toMatch(/gennai serve --port \d+/);
  other.close();
});

const facts = {
  ...({
    version: "1",
    url: "http://127.0.0.1:7777",
    link: "http://127.0.0.1:7777/#code",
    workspace: "/w/my project",
    isSample: false,
    encryption: "none",
    command: "gennai",
    sandbox: { state: "sandboxed", reason: "bubblewrap" },
    stages: { state: "staged" },
  } as const),
  settings: defaultSettings({}),
};
const secret = { type: "random", place: "/state/servers/7777.json", shown: undefined, weak: false } as const;
const plain = (_style: unknown, text: string) => text;

const banners = [
  ["the link first", { ...facts, token: secret }, "Open http://127.0.0.1:7777/#code  (works once"],
  ["how to get another link", { ...facts, token: secret }, "another: gennai open)"],
  ["where the token is", { ...facts, token: secret }, "/state/servers/7777.json"],
  ["the token when asked", { ...facts, token: { ...secret, shown: "abc" } }, "token      abc"],
  ["that there is none", { ...facts, token: { type: "none" } }, "NONE (--no-auth)"],
  ["a token that is weak", { ...facts, token: { ...secret, weak: true } }, "guessed"],
  [
    "what to do next",
    { ...facts, token: secret },
    "run \"replace colour with color in src/**/*.js\" --workspace '/w/my project'",
  ],
  ["where commands run", { ...facts, token: secret }, "run staged, in a sandbox: bubblewrap"],
  [
    "that no command is staged",
    { ...facts, token: secret, stages: { state: "off" } },
    "run WITHOUT a sandbox: it was switched off",
  ],
  [
    "why none is",
    { ...facts, token: secret, stages: { state: "unavailable", reason: "The system has no overlays." } },
    "run WITHOUT a sandbox: The system has no overlays",
  ],
  [
    "that users' workspaces are tried",
    { ...facts, workspace: undefined, token: secret, stages: { state: "somewhere" } },
    "staged where a workspace can be",
  ],
  [
    "that nothing holds commands",
    { ...facts, token: secret, sandbox: { state: "unsandboxed", reason: "it was switched off" } },
    "run WITHOUT a sandbox: it was switched off",
  ],
  ["that it is a copy", { ...facts, isSample: true, token: secret }, "a fresh copy of the sample"],
  ["that a proxy must be before it", { ...facts, encryption: "proxy", token: secret }, "only your proxy"],
  ["that it encrypts", { ...facts, encryption: "tls", token: secret }, "TLS 1.2"],
  [
    "whose tokens count",
    { ...facts, workspace: undefined, token: { type: "of-each-user", issuer: "https://login.example" } },
    "issued by https://login.example",
  ],
  [
    "that users' tokens are not sent to it",
    { ...facts, workspace: undefined, token: { type: "of-each-user", issuer: "https://login.example" } },
    "unencrypted: clients send no user's token here",
  ],
] as const;

test.each(banners)("the banner says %s", (_, given, wanted) => {
  expect(serveBanner(given, plain)).toContain(wanted);
});

test("the banner has at most eight lines, the link in the first", () => {
  const lines = serveBanner({ ...facts, token: secret }, plain)
    .trimEnd()
    .split("\n");
  expect(lines.length).toBeLessThanOrEqual(8);
  expect(lines[0]).toMatch(/^Open http/);
});

test("the sample is copied afresh, as a repository with one commit", async () => {
  await using sample = await temporaryDirectory({ "README.md": "hello\n" });
  const workspace = await copySampleWorkspace(sample.root);
  try {
    expect((await git(["log", "--format=%s"], { directory: workspace })).stdout).toBe("The sample as it comes\n");
    expect((await git(["status", "--porcelain"], { directory: workspace })).stdout).toBe("");
    expect((await git(["branch", "--show-current"], { directory: workspace })).stdout).toBe("main\n");
  } finally {
    await rm(dirname(workspace), { recursive: true });
  }
});

test("a server that nobody needs ends by itself, and is announced no more", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  const console = testConsole(workspace.root, { GENNAI_STATE_DIR: state.root });
  expect(await runCommandLine(["serve", "--port", "0", "--quit-when-idle", "0.01"], console)).toBe(0);
  expect(console.printed()).toContain("listening on");
  expect(await readdir(state.path("servers"))).toEqual([]);
  expect(await runCommandLine(["serve", "--port", "0", "--quit-when-idle", "soon"], console)).toBe(2);
  expect(console.complained()).toContain("--quit-when-idle takes minutes");
});
