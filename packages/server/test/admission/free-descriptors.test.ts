import { expect, test } from "vitest";
import { FreeDescriptors } from "#admission/free-descriptors";

const none = Number.POSITIVE_INFINITY;

test.each([
  { limit: 1_024, used: 768, stream: true, turn: true, connections: 128 },
  { limit: 1_024, used: 769, stream: false, turn: true, connections: 127 },
  { limit: 1_024, used: 897, stream: false, turn: false, connections: 1 },
  { limit: 65_536, used: 60_000, stream: true, turn: true, connections: 5_408 },
  { limit: 256, used: 192, stream: true, turn: true, connections: 32 },
  { limit: 256, used: 193, stream: false, turn: true, connections: 31 },
  { limit: 256, used: 225, stream: false, turn: false, connections: 1 },
  { limit: 256, used: none, stream: false, turn: false, connections: 1 },
  { limit: none, used: 5_000, stream: true, turn: true, connections: none },
])("with $used of $limit in use", ({ limit, used, stream, turn, connections }) => {
  const descriptors = new FreeDescriptors({ limit, used: () => used });
  const refused = expect.objectContaining({ code: "resource_exhausted", reason: "no_descriptors" });
  for (const [isFree, what] of [
    [stream, "stream"],
    [turn, "turn"],
  ] as const) {
    if (isFree) descriptors.assertRoomFor(what);
    else expect(() => descriptors.assertRoomFor(what)).toThrow(refused);
  }
  expect(descriptors.forConnections).toBe(connections);
});
