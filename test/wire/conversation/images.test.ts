import { join } from "node:path";
import { samplePng } from "@gennai/testkit/sample-images";
import { describe, expect, test } from "vitest";
import { endState, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { cachedSequence, call, type Format, formats, readable, wireWorld } from "../wire-world.ts";

const logo = samplePng(3, 2);
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

const look = [
  { calls: [call("c1", "Read", { file_path: "logo.png" }), call("c2", "LS", { path: "." })] },
  { text: ["Grey."] },
  { text: ["Still grey."] },
];

/** A shape of each format that can see. */
const seers: Readonly<Record<Format, string>> = {
  "openai-compatible": "qwen3-vl",
  openai: "gpt-4.1",
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-3-pro-preview",
};

describe.each(formats)("%s", (format) => {
  test("an image that was read goes as this format wants it, and stays the same after a restart", async () => {
    await using world = await wireWorld(format, look, { model: seers[format], files: {} });
    const { server, provider } = world;
    await server.workspace.write("logo.png", logo);
    const sessionId = await startSession(server);
    expect(endState(await runTurn(server, sessionId, "What colour is the logo?"))).toBe("COMPLETED");
    const second = provider.requests[1];
    if (second === undefined) throw new Error("There was no second request.");
    expect(JSON.stringify(second.body).split(base64(logo))).toHaveLength(2);
    await expect(readable(format, second).replaceAll(base64(logo), "(the logo)")).toMatchFileSnapshot(
      join(import.meta.dirname, `../recorded/image.${seers[format]}.yaml`),
    );

    await server.restart();
    expect(endState(await runTurn(server, sessionId, "And now?"))).toBe("COMPLETED");
    const before = cachedSequence(format, second);
    const third = provider.requests[2];
    if (third === undefined) throw new Error("There was no third request.");
    expect(cachedSequence(format, third).slice(0, before.length)).toEqual(before);
  });
});
