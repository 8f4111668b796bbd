import { rm } from "node:fs/promises";
import { makeFirstCommit } from "@gennai/client/session/workspace-state";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { startSession } from "../session-client.ts";

const { signal } = new AbortController();

async function freshRepository(files: Readonly<Record<string, string>>) {
  const server = await startTestServer({ files });
  await rm(server.workspace.path(".git"), { recursive: true });
  await server.workspace.git("init", "--quiet", "--initial-branch=main");
  await server.workspace.git("config", "user.name", "Test");
  await server.workspace.git("config", "user.email", "test@example.com");
  return server;
}

test("commits what a person saw and nothing else: no secrets, nothing hidden by a rule, nothing ignored", async () => {
  await using server = await freshRepository({
    ".gitignore": "dist/\n",
    "dist/out.js": "made\n",
    ".env": "TOKEN=1\n",
    "keys/id_rsa": "key\n",
    "private/plan.md": "hidden\n",
    "src/a.ts": "export {};\n",
    "src/:odd [name].ts": "export {};\n",
    ".gennai/rules.yaml": "zeroAccessPaths: [private/]\n",
  });
  const { client, workspace } = server;
  const sessionId = await startSession(server);
  // A file that the user staged before is not included either.
  await workspace.git("add", "--force", ".env");
  const offered = await makeFirstCommit(client, { sessionId, signal });
  expect(offered).toMatchObject({ branch: "main", commit: undefined });
  expect(offered?.files).toEqual(expect.arrayContaining([".gitignore", "src/:odd [name].ts", "src/a.ts"]));
  expect(offered?.leftOut).toEqual(expect.arrayContaining([".env", "keys/id_rsa", "private/plan.md"]));
  expect(await workspace.git("rev-list", "--all", "--count")).toBe("0");

  const made = await makeFirstCommit(client, { sessionId, sha256: offered?.sha256 ?? "", signal });
  expect(await workspace.git("rev-parse", "main")).toBe(made?.commit);
  const held = (await workspace.git("ls-tree", "-r", "-z", "--name-only", "main"))
    .split("\0")
    .filter((name) => name !== "");
  expect(held).toEqual(offered?.files);
  expect(await workspace.read(".env")).toBe("TOKEN=1\n");
  expect(await makeFirstCommit(client, { sessionId, signal })).toBeUndefined();
});

test("commits nothing when the files are others than the person saw", async () => {
  await using server = await freshRepository({ "a.txt": "a\n" });
  const { client, workspace } = server;
  const sessionId = await startSession(server);
  const offered = await makeFirstCommit(client, { sessionId, signal });
  await workspace.write("b.txt", "b\n");
  const answer = await makeFirstCommit(client, { sessionId, sha256: offered?.sha256 ?? "", signal });
  expect(answer).toMatchObject({ commit: undefined, files: expect.arrayContaining(["b.txt"]) });
  expect(await workspace.git("rev-list", "--all", "--count")).toBe("0");
});
