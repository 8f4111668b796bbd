import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { type ManyUsersServer, startManyUsersServer, type TestUser } from "@gennai/testkit/many-users";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { codeOf, refusalOf } from "../rpc/session-client.ts";

async function start(user: TestUser, settings: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return (await user.client.startSession({ interactive: true, settings })).sessionId;
}

describe("workspaces", () => {
  let world: ManyUsersServer;
  let ada: TestUser;
  beforeAll(async () => {
    world = await startManyUsersServer();
    const users = await Promise.all(["ada", "eve"].map((user) => world.user({ user })));
    await Promise.all(users.map((user) => start(user)));
    ada = await world.user({ user: "ada" });
    await symlink("/etc", join(world.workspaceRoot, "acme", "ada", "link"));
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("are the user's own directory, or one in it", async () => {
    const own = join(world.workspaceRoot, "acme", "ada");
    const info = await ada.client.getServerInfo({});
    expect(info.defaultWorkingDir).toBe(own);
    await mkdir(join(own, "project"));
    for (const [asked, got] of [
      ["", own],
      ["project", join(own, "project")],
      [join(own, "project"), join(own, "project")],
      [`${own}/project/../project/.`, join(own, "project")],
    ]) {
      expect((await ada.client.startSession({ settings: { workingDir: asked ?? "" } })).workingDir).toBe(got);
    }
  });

  test.each([
    ["the server's files", "/etc"],
    ["the root", "/"],
    ["the directory above", ".."],
    ["another user's, by a way around", "../eve"],
    ["another tenant's", "../../other/bob"],
    ["a link out of it", "link"],
    ["a directory that is not there", "nowhere"],
    ["a path with a NUL", "a\0b"],
  ])("are never %s, and which of it exists nobody learns", async (_what, workingDir) => {
    const refused = await refusalOf(ada.client.startSession({ settings: { workingDir } }));
    expect(refused).toMatchObject({ code: "permission_denied", info: "workspace_outside" });
    expect(refused.message).toMatch(/^There is no such workspace among yours\./);
  });

  test("are looked at again when a session is opened again", async () => {
    await using world = await startManyUsersServer();
    const ada = await world.user({ user: "ada" });
    const own = join(world.workspaceRoot, "acme", "ada");
    await mkdir(join(own, "project"), { recursive: true });
    const sessionId = await start(ada, { workingDir: "project" });
    await rename(join(own, "project"), join(own, "moved"));
    await mkdir(join(world.workspaceRoot, "acme", "eve"));
    await writeFile(join(world.workspaceRoot, "acme", "eve", "secret.txt"), "secret");
    await symlink(join(world.workspaceRoot, "acme", "eve"), join(own, "project"));
    await world.server.restart();
    expect(await codeOf(ada.client.listPaths({ sessionId, prefix: "s" }))).toBe("permission_denied");
  });
});

describe("models", () => {
  let world: ManyUsersServer;
  beforeAll(async () => {
    world = await startManyUsersServer({ server: { environment: { HOME: "/nonexistent", PATH: "/nonexistent" } } });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ["an address of one's own", { backend: Backend.OPENAI, model: "m", baseUrl: "http://127.0.0.1:1/v1" }],
    ["a server of one's own", { backend: Backend.OPENAI_COMPATIBLE, model: "m", baseUrl: "http://169.254.169.254/" }],
    ["the server's own Ollama", { backend: Backend.OLLAMA, model: "m" }],
    ["a file of the server", { backend: Backend.SCRIPTED, model: "/etc/passwd" }],
  ])("%s is not for users to choose", async (_what, settings) => {
    const ada = await world.user({ user: "ada" });
    const refused = await refusalOf(ada.client.startSession({ settings }));
    expect(refused).toMatchObject({
      code: "failed_precondition",
      message: expect.stringContaining("not for the users"),
    });
    const sessionId = await start(ada);
    expect(await codeOf(ada.client.setSettings({ sessionId, settings }))).toBe("failed_precondition");
  });

  test("a key that a user hands over is for that user alone", async () => {
    const people = [{ user: "ada" }, { user: "eve" }, { user: "ada", tenant: "other" }];
    const [ada, eve, otherAda] = await Promise.all(people.map((each) => world.user(each)));
    if (ada === undefined || eve === undefined || otherAda === undefined) throw new TypeError("nobody");
    await ada.client.setModelKey({ backend: Backend.ANTHROPIC, key: "sk-ant-test-key" });
    const choose = (user: TestUser) =>
      codeOf(user.client.startSession({ settings: { backend: Backend.ANTHROPIC, model: "claude" } }));
    expect(await choose(ada)).toBe("ok");
    expect(await choose(eve)).toBe("failed_precondition");
    expect(await choose(otherAda)).toBe("failed_precondition");
    await ada.client.setModelKey({ backend: Backend.ANTHROPIC, key: "" });
    expect(await choose(ada)).toBe("failed_precondition");
  });
});
