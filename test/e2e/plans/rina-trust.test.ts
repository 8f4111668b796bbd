import { existsSync } from "node:fs";
import { Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { bash } from "@gennai/testkit/scripted-steps";
import { describe, expect, test } from "vitest";
import { startSession, Watcher } from "../rpc/session-client.ts";
import { approve, command, extension, open, write } from "./rina-world.ts";

describe("the port is trusted less", () => {
  test("a command where there is no sandbox asks an authenticated client; without one nothing runs, and nothing is spent", async () => {
    await using server = await open();
    const client = await approve(server, command("touch made.txt"));
    const begun = performance.now();
    const refused = await client.execute();
    expect(refused).toMatchObject({
      status: 409,
      json: {
        ok: false,
        error: expect.stringMatching(/touch made\.txt.*needs another answer of a person.*gennai open/),
      },
    });
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(existsSync(server.workspace.path("made.txt"))).toBe(false);

    const { sessions } = await server.client.listSessions({});
    await using editor = await Watcher.attach(server, sessions[0]?.sessionId ?? "");
    const run = client.post("/plan/execute", client.approved());
    const question = await editor.next("confirmationRequest");
    // Meanwhile nothing else hangs, and it is said what is waited for.
    const send = client.post("/rina/send", { text: "x", strict: true, context: {} });
    for (const call of [send, client.post("/plan/execute", client.approved())]) {
      expect(await call).toMatchObject({
        status: 409,
        json: {
          ok: false,
          error: expect.stringMatching(/waits for a person's answer: Allow Bash\? .*touch made\.txt/),
        },
      });
    }
    expect((await client.ping()).json).toMatchObject({ ok: true });
    await editor.answer(question);
    expect(await run).toMatchObject({ status: 200, json: { ok: true, result: { executed: true } } });
    expect(existsSync(server.workspace.path("made.txt"))).toBe(true);
  });

  test("the agent's own command is not let in, though the same user runs it", async () => {
    const program =
      "fetch(process.argv[1] + '/ping', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }).then((answer) => console.log('status', answer.status))";
    await using server = await open({ server: { confirmation: { answerMs: 5_000, waitForClientMs: 5_000 } } });
    const script = await server.scriptFile([
      { steps: [bash(`"${process.execPath}" -e "${program}" ${server.rinaUrl}`), { text: ["Done."] }] },
    ]);
    const sessionId = await startSession(server, {
      interactive: true,
      settings: { backend: Backend.SCRIPTED, model: script },
    });
    await using editor = await Watcher.attach(server, sessionId);
    await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "go" });
    await editor.answer(await editor.next("confirmationRequest"));
    expect((await editor.next("toolResult")).output).toContain("status 403");
  });
});

describe("/rina/send is a turn of the model in plan mode", () => {
  const envelope = (plan: unknown) => JSON.stringify({ kind: "plan", payload: plan });

  test("strict: what is not a plan is asked for once more, with the issues", async () => {
    const answer = envelope(write("made.txt"));
    await using server = await open({
      script: [
        { match: "no valid plan[\\s\\S]*steps", steps: [{ text: `Here you are: ${answer}` }] },
        { match: "please", steps: [{ text: envelope({ id: "p1", title: "T" }) }] },
      ],
    });
    const client = extension(server);
    await client.planCommand("please", true);
    expect(client.plan).toEqual(write("made.txt"));
  });

  test("strict: when it stays invalid, that is an error; otherwise the text is given as it is", async () => {
    await using server = await open({ script: [{ match: "[\\s\\S]", steps: [{ text: "I would rather not." }] }] });
    const client = extension(server);
    const strict = await client.post("/rina/send", { text: "please", strict: true, context: {} });
    expect(strict).toMatchObject({ status: 422, json: { ok: false, raw: "I would rather not." } });
    const loose = await client.post("/rina/send", { text: "please", strict: false, context: {} });
    expect(loose).toEqual({ status: 200, json: { ok: true, raw: "I would rather not." } });
  });

  test("the context reaches the model; and in plan mode it can only read", async () => {
    await using server = await open({
      script: [
        {
          match: "theActiveFile",
          steps: [
            { tool: { name: "Write", args: { file_path: "made.txt", content: "x" } } },
            bash("touch made.txt"),
            { text: envelope(write("planned.txt")) },
          ],
        },
      ],
    });
    const client = extension(server);
    const { status } = await client.post("/rina/send", {
      text: "please",
      strict: true,
      context: { name: "theActiveFile" },
    });
    expect(status).toBe(200);
    expect(existsSync(server.workspace.path("made.txt"))).toBe(false);
    expect(existsSync(server.workspace.path("planned.txt"))).toBe(false);
  });

  test("what is no request is refused", async () => {
    await using server = await open();
    for (const body of [{}, { text: "" }, { text: 1 }, { text: "x", strict: "yes" }, [], null]) {
      expect(await extension(server).post("/rina/send", body)).toMatchObject({ status: 400, json: { ok: false } });
    }
  });
});
