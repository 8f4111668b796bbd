import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { userConfig } from "@gennai/testkit/user-config";
import { describe, expect, test } from "vitest";
import { eventsOf, runTurn, startSession, Watcher } from "../../rpc/session-client.ts";

const running = (command: string) => [{ steps: [bash(command), { text: ["Done."] }] }];

describe("server.json", () => {
  test("its limit ends a command, and the model and the user read which one it was", async () => {
    await using config = await userConfig({ "server.json": '{"commands":{"memory_mib":256}}' });
    const eat = `"${process.execPath}" -e 'const held = []; setInterval(() => held.push(Buffer.alloc(16 << 20, 1)), 10)'`;
    await using server = await startTestServer({ script: running(eat), server: { environment: config.environment } });
    await using person = await Watcher.begin(server);
    await person.answer(await person.next("confirmationRequest"));
    const { output, error } = await person.next("toolResult");
    for (const told of [output, error])
      expect(told).toContain("it took more than 256 MiB of memory (the limit commands.memory_mib)");
  });

  test("commands get the variables that it names, but no logins", async () => {
    await using config = await userConfig({ "server.json": '{"commands":{"variables":["APP_MODE","APP_URL"]}}' });
    const own = { APP_MODE: "test", APP_URL: "http://a:b@c/", APP_DEPTH: "3" };
    const script = running("echo mode=$APP_MODE url=$APP_URL depth=$APP_DEPTH");
    const environment = { ...config.environment, ...own };
    await using server = await startTestServer({ script, server: { environment, commands: "staged" } });
    const events = await runTurn(server, await startSession(server), "go");
    expect(eventsOf(events, "toolResult")[0]?.output).toContain("mode=test url= depth=\n");
  });

  test.each([
    ["a setting of former releases", '{"capabilities":{"required":true}}', /capabilities/],
    ["a misspelt setting", '{"comands":{}}', /comands/],
    ["a limit that is none", '{"commands":{"memory_mib":"much"}}', /commands\.memory_mib/],
    ["a limit below what any program takes", '{"commands":{"memory_mib":1}}', /commands\.memory_mib/],
    ["no JSON", "{", /JSON/],
  ])("%s keeps the server from starting, and is named", async (_what, text, wanted) => {
    await using config = await userConfig({ "server.json": text });
    const start = startTestServer({ server: { environment: config.environment } });
    await expect(start).rejects.toMatchObject({ code: "bad_server_config", message: expect.stringMatching(wanted) });
  });
});
