import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { agentArguments, files, type Scene, scenes, turns } from "./acpx-scenes.ts";
import { type Message, type Sent, sentIn, toldIn } from "./trace.ts";

const cli = builtProgram(import.meta.resolve("@gennai/cli/main"));

/** `gennai acp` as a process, which is sent what acpx sent and answered what acpx answered. */
function startAgent({
  script,
  state,
  root,
}: {
  readonly script: string;
  readonly state: string;
  readonly root: string;
}) {
  const child = spawn(process.execPath, agentArguments(cli, script), {
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, GENNAI_STATE_DIR: state, HOME: state },
  });
  const told: Sent[] = [];
  const answers: Message[] = [];
  const waiting = new Map<unknown, (result: unknown) => void>();
  let changed = Promise.withResolvers<void>();
  const send = (message: object) => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    told.push({ by: "agent", message });
    if (message.method === undefined) waiting.get(message.id)?.(message.result);
    else if (message.id !== undefined) send({ id: message.id, result: answers.shift()?.result });
    changed.resolve();
    changed = Promise.withResolvers();
  });
  return {
    told,
    send,
    request(message: Message): Promise<unknown> {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      waiting.set(message.id, resolve);
      send(message);
      return promise;
    },
    /** What it will be answered, in this order. */
    willAnswer: (message: Message) => void answers.push(message),
    async until(words: string): Promise<void> {
      while (!JSON.stringify(told).includes(words)) await changed.promise;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

test("what acpx sends comes to what it was recorded with: prompt, diff, permission, a session opened again, cancel", async () => {
  await using state = await temporaryDirectory();
  await using repository = await temporaryRepository(files);
  const script = state.path("script.yaml");
  await writeFile(script, JSON.stringify({ turns }));
  const place = { script, state: state.path("state"), root: repository.root };
  let sessionId = "";

  const play = async (
    { cancelAfter }: Pick<Scene, "cancelAfter">,
    recorded: readonly Sent[],
  ): Promise<readonly Sent[]> => {
    await using agent = startAgent(place);
    const here = (message: Message): Message =>
      JSON.parse(
        JSON.stringify(message)
          .replaceAll("/repository", repository.root)
          .replaceAll('"sessionId":"…"', `"sessionId":${JSON.stringify(sessionId)}`),
      ) as Message;
    const editors = recorded.filter(({ by }) => by === "editor").map(({ message }) => message);
    for (const message of editors) if (message.method === undefined) agent.willAnswer(here(message));
    const requests = editors.filter(({ method, id }) => method !== undefined && id !== undefined);
    for (const request of requests) {
      const result = agent.request(here(request));
      if (request.method === "session/prompt" && cancelAfter !== undefined) {
        await agent.until(`${cancelAfter}\\n`);
        for (const { method, params } of editors) if (method === "session/cancel") agent.send(here({ method, params }));
      }
      if (request.method === "session/new") sessionId = ((await result) as { sessionId: string }).sessionId;
      await result;
    }
    return agent.told;
  };

  for (const scene of scenes) {
    const recorded = sentIn(await readFile(new URL(`recorded/${scene.name}.jsonl`, import.meta.url), "utf8"));
    const told = toldIn(await play(scene, recorded));
    expect(told, scene.name).toEqual(toldIn(recorded));
    const left = await repository.read("a.txt").catch(() => undefined);
    expect(left, scene.name).toBe(scene.left);
    // `acpx sessions new`, which records nothing: the others open that session again.
    if (scene.once === true)
      await play(
        {},
        recorded.filter(({ message }) => message.method !== "session/prompt"),
      );
  }
});
