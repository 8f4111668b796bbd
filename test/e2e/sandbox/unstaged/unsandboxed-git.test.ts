import { chmod } from "node:fs/promises";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { requireIsolation } from "@gennai/cli/connection/server-choice";
import { findGit } from "@gennai/git/run/find-git";
import { sandboxedGitHint } from "@gennai/git/run/git-isolation";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { machineChecks } from "@gennai/shell/machine-checks";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test, vi } from "vitest";

vi.mock("@gennai/git/run/find-git", { spy: true });

const signal = new AbortController().signal;

test("a git that its sandbox cannot see: said once, and `--commands staged` refuses such a server", async () => {
  await using home = await temporaryDirectory({ git: '#!/bin/sh\nexec /usr/bin/git "$@"\n' });
  await chmod(home.path("git"), 0o755);
  vi.mocked(findGit).mockReturnValue(home.path("git"));
  vi.stubEnv("HOME", home.root);
  await using server = await startTestServer({ server: { commands: "auto" } });
  const { client, url, warnings } = server;
  expect(await client.getServerInfo({})).toMatchObject({
    isolation: "sandboxed",
    gitIsolation: "unsandboxed",
    gitIsolationReason: expect.stringContaining(home.path("git")),
  });
  expect(warnings.filter((text) => text.includes("git runs without a sandbox"))).toMatchObject([
    expect.stringContaining(sandboxedGitHint),
  ]);
  const other = { client, url, isOwn: false };
  await requireIsolation(other, "auto", signal);
  await expect(requireIsolation(other, "staged", signal)).rejects.toMatchObject({
    message: expect.stringContaining("runs its own git without a sandbox"),
    next: [expect.stringContaining("--commands staged")],
  });
  const machine = { stateDir: server.stateDir, workspace: server.workspace.root, environment: process.env };
  const check = machineChecks(machine).find(({ name }) => name === "git");
  expect(check && (await check.run(signal))).toMatchObject({ state: "warn", next: [`${sandboxedGitHint}.`] });
});

test.each([
  ["sandboxed", "sandboxed", "required", undefined],
  ["sandboxed", "sandboxed", "auto", /does not promise/],
  ["sandboxed", "missing", "required", undefined],
  ["sandboxed", "unsandboxed", "required", /runs its own git without a sandbox: because/],
  ["sandboxed", "", "required", /too old to say/],
  ["unsandboxed", "sandboxed", "required", /runs commands without a sandbox: because/],
])(
  "a server with commands %s, git %s and stages %s, where commands have to be staged",
  async (isolation, gitIsolation, stages, refused) => {
    const info = { isolation, isolationReason: "because", gitIsolation, gitIsolationReason: "because", stages };
    const transport = createRouterTransport(({ service }) => {
      service(AgentService, { getServerInfo: () => info });
    });
    const other = { client: createClient(AgentService, transport), url: "http://127.0.0.1:1", isOwn: false };
    const checked = requireIsolation(other, "staged", signal);
    if (refused === undefined) await checked;
    else await expect(checked).rejects.toThrow(refused);
  },
);
