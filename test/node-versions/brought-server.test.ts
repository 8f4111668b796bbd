import { readlinkSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, onTestFinished, test, vi } from "vitest";
import { startBroughtServer } from "../../packages/vscode/src/server/launch/brought-server.ts";
import { broughtArguments } from "../../packages/vscode/src/server/launch/launch-command.ts";
import { endServers, runningServers } from "../e2e/vscode/workbench/code-server/code-server.ts";

/** The bundle that the extension brings as well, where it is made smaller. `npm test` builds it. */
const bundle = fileURLToPath(new URL("../../dist", import.meta.url));

test("an extension host of this version runs the server that the extension brings, by its own program", async () => {
  await using home = await temporaryDirectory();
  await using workspace = await temporaryRepository({ "a.txt": "colour\n" });
  await mkdir(home.path("extension/dist"), { recursive: true });
  await symlink(bundle, home.path("extension/dist/server"));
  const state = home.path("state");
  vi.stubEnv("HOME", home.root).stubEnv("GENNAI_STATE_DIR", state);
  onTestFinished(async () => {
    await endServers(state);
    vi.unstubAllEnvs();
  });

  const choice = { workspace: workspace.root, commands: "auto", protectedBranches: [] } as const;
  const brought = {
    extension: home.path("extension"),
    storage: home.path("storage"),
    // No editor is here: what searches is looked for.
    editor: home.path("no-editor"),
    nodePath: "",
    folders: [workspace.root],
    args: broughtArguments(choice),
  };
  const isRunning = async (): Promise<boolean> => (await runningServers(state)).length > 0;
  const outcome = await startBroughtServer(brought, isRunning, { signal: AbortSignal.timeout(60_000) });
  expect(outcome).toEqual({ type: "running" });

  const [server, ...others] = await runningServers(state);
  expect(others).toEqual([]);
  expect(readlinkSync(`/proc/${server?.pid}/exe`)).toBe(readlinkSync("/proc/self/exe"));
  const page = await fetch(server?.url ?? "");
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("/assets/repl.js")]);
});
