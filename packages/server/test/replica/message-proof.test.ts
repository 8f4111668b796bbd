import { expect, test } from "vitest";
import { MessageProofs } from "#replica/message-proof";

const now = { at: 1_000_000 };
const replica = (key = "shared"): MessageProofs => new MessageProofs(Buffer.from(key), { now: () => now.at });
const message = { to: "gennai.inbox.r1", head: "head", body: new TextEncoder().encode("body") };

test("a message of another replica counts once", () => {
  now.at = 1_000_000;
  const receiver = replica();
  const { proof, number } = replica().prove(message);
  expect(receiver.check(message, proof)).toBe(number);
  expect(receiver.check(message, proof)).toBeUndefined();
  expect(receiver.check(message, replica().prove(message).proof)).toBeDefined();
});

test.each<[string, () => string | undefined]>([
  ["without a proof", () => replica().check(message, "")],
  ["with half of one", () => replica().check(message, replica().prove(message).proof.slice(0, -4))],
  ["by another key", () => replica().check(message, replica("other").prove(message).proof)],
  ["for another inbox", () => replica().check({ ...message, to: "gennai.inbox.r2" }, replica().prove(message).proof)],
  ["with another head", () => replica().check({ ...message, head: "other" }, replica().prove(message).proof)],
  ["with another body", () => replica().check({ ...message, body: new Uint8Array() }, replica().prove(message).proof)],
  ["with another time", () => replica().check(message, replica().prove(message).proof.replace(/^\d+/, "1000001"))],
  [
    "with another number",
    () =>
      replica().check(
        message,
        replica()
          .prove(message)
          .proof.replace(/\.[^.]+\./, ".x."),
      ),
  ],
])("a message %s does not", (_how, check) => {
  now.at = 1_000_000;
  expect(check()).toBeUndefined();
});

test("an old message does not count, nor one from far ahead", () => {
  now.at = 1_000_000;
  const { proof } = replica().prove(message);
  now.at += 300_000;
  expect(replica().check(message, proof)).toBeUndefined();
  now.at = 1_000_000 - 300_000;
  expect(replica().check(message, proof)).toBeUndefined();
});
