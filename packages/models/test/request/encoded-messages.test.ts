import { createOpenAICompatible, OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { Message } from "@gennai/agent/model";
import { samplePng } from "@gennai/testkit/sample-images";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type ChatDialect, commonDialect } from "#request/chat-dialect";
import { encodeMessages, type Reader, requestFrame, withMessages } from "#request/encoded-messages";

const encode = (values: readonly unknown[]) => values.map((value) => Buffer.from(`,${JSON.stringify(value)}`));

it("puts messages into the request's own list, whatever the other fields hold", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.string(), fc.jsonValue(), (messages, model, tools) => {
      const request = { model: `${model}"messages":[]`, messages: [], tools };
      const body = Buffer.concat([...withMessages(requestFrame(JSON.stringify(request)), encode(messages))]).toString();
      expect(body).toBe(JSON.stringify({ ...request, messages }));
    }),
  );
});

it("refuses a request without a list of messages", () => {
  expect(() => requestFrame('{"model":"m"}')).toThrow(TypeError);
});

const chat = createOpenAICompatible({ name: "test", baseURL: "http://localhost" }).chatModel("m");

function reader(to: OpenAICompatibleChatLanguageModel, dialect: ChatDialect): Reader {
  return { chat: to, model: "test/m", dialect };
}

async function encoded(messages: readonly Message[], dialect = commonDialect): Promise<string> {
  if (!(chat instanceof OpenAICompatibleChatLanguageModel)) throw new TypeError("It is another kind of model.");
  return Buffer.concat([...(await encodeMessages(reader(chat, dialect), "system", messages))]).toString();
}

it("encodes each conversation as if it were the only one, however they branch and whenever they are sent", async () => {
  const first: Message = { role: "user", text: "first" };
  const step = fc.record({
    from: fc.nat(),
    keep: fc.nat({ max: 12 }),
    // Some of several pieces.
    added: fc.array(fc.oneof(fc.string({ maxLength: 30 }), fc.constantFrom("ä".repeat(9_000), "b".repeat(40_000))), {
      maxLength: 4,
    }),
    waits: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const conversations: Message[][] = [[first]];
      const roles = ["user", "assistant", "note", "assistant"] as const;
      const sent: Promise<readonly [string, string]>[] = [];
      for (const { from, keep, added, waits } of steps) {
        const base = conversations[from % conversations.length]?.slice(0, keep + 1) ?? [first];
        const more = added.map((text, index): Message => {
          const role = roles[(keep + index) % roles.length] ?? "user";
          return role === "assistant" ? { role, text: `${text}.`, toolCalls: [] } : { role, text: `${text}.` };
        });
        const conversation = [...base, ...more];
        conversations.push(conversation);
        const answer = encoded(conversation).then(
          async (bytes) => [bytes, await encoded(structuredClone(conversation))] as const,
        );
        sent.push(answer);
        if (waits) await answer;
      }
      for (const answer of sent) {
        const [bytes, alone] = await answer;
        expect(bytes).toBe(alone);
      }
    }),
  );
});

it("leaves what was handed out as it is when the conversation goes on", async () => {
  if (!(chat instanceof OpenAICompatibleChatLanguageModel)) throw new TypeError("It is another kind of model.");
  const messages: Message[] = [{ role: "user", text: "one" }];
  const handedOut: [readonly Uint8Array[], string][] = [];
  for (let turn = 0; turn < 40; turn += 1) {
    const parts = await encodeMessages(reader(chat, commonDialect), "", messages);
    handedOut.push([parts, Buffer.concat([...parts]).toString()]);
    messages.push({ role: "user", text: "x".repeat(turn * 700) });
  }
  for (const [parts, text] of handedOut) expect(Buffer.concat([...parts]).toString()).toBe(text);
});

it("parts a result from the user where a server wants that, also where the result was sent before", async () => {
  const strict: ChatDialect = { ...commonDialect, userBehindResult: false, callIds: "nine" };
  const begun: Message[] = [
    { role: "user", text: "go" },
    { role: "assistant", text: "", toolCalls: [{ id: "call_1", name: "LS", argumentsJson: "{}" }] },
    { role: "tool", id: "call_1", name: "LS", output: "a", isError: false },
  ];
  const told: Message[] = [...begun, { role: "note", text: "changed" }, { role: "user", text: "more" }];
  await encoded(begun, strict);
  const sent: readonly Record<string, unknown>[] = JSON.parse(`[${(await encoded(told, strict)).slice(1)}]`);
  expect(sent.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
  const [call] = (sent[2]?.["tool_calls"] ?? []) as readonly { readonly id: string }[];
  expect(call?.id).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(sent[3]?.["tool_call_id"]).toBe(call?.id);
  expect(await encoded(structuredClone(told), strict)).toBe(await encoded(told, strict));
  const common: readonly unknown[] = JSON.parse(`[${(await encoded(told)).slice(1)}]`);
  expect(common).toHaveLength(5);
});

it("tells what the user's side says in a row, and images behind results, as one message", async () => {
  const image = samplePng(3, 1);
  const call: Message = {
    role: "assistant",
    text: "",
    toolCalls: [{ id: "call_1", name: "Look", argumentsJson: "{}" }],
  };
  const shown: Message = { role: "tool", id: "call_1", name: "Look", output: "a", isError: false, images: [image] };
  const said: readonly Message[] = [
    { role: "note", text: "undone" },
    { role: "user", text: "", attached: "a.txt" },
    { role: "user", text: "again" },
  ];
  const tell = async (messages: readonly Message[]) => {
    const sent: readonly Record<string, unknown>[] = JSON.parse(`[${(await encoded(messages)).slice(1)}]`);
    return sent;
  };
  const [, only] = await tell(said);
  expect(only).toEqual({ role: "user", content: "undone\n\na.txt\n\nagain" });
  // The result was sent before, with its image behind it.
  const begun: readonly Message[] = [{ role: "user", text: "go" }, call, shown];
  await tell(begun);
  const sent = await tell([...begun, ...said]);
  expect(sent.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
  expect(JSON.stringify(sent.at(-1))).toMatch(/What the tools showed.*undone.*again.*image_url/);
  // And without what was said after it, as after a fork.
  expect(await tell(begun)).toHaveLength(5);
});
