import type { Message } from "@gennai/agent/model";
import { expect, test } from "vitest";
import { conversationPreview } from "#manager/conversation-preview";

const user = (text: string): Message => ({ role: "user", text, images: [] });

test.each<[string, readonly Message[], number, string]>([
  ["nothing", [], 10, ""],
  ["the last ones", [user("a"), user("b"), user("c")], 2, "User: b\n\nUser: c"],
  ["long ones in short", [user("x".repeat(401))], 1, `User: ${"x".repeat(400)} …`],
  ["exactly as long as may be", [user("x".repeat(400))], 1, `User: ${"x".repeat(400)}`],
  ["without blanks around", [user("\n a \n")], 1, "User: a"],
])("%s", (_what, messages, most, preview) => {
  expect(conversationPreview(messages, most)).toBe(preview);
});
