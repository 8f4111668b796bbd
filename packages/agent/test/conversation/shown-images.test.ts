import { expect, test } from "vitest";
import { withShownImages } from "#conversation/shown-images";
import type { Message } from "#model";

const image = (bytes = 10) => new Uint8Array(bytes);
const user = (count: number, bytes?: number): Message => ({
  role: "user",
  text: "look",
  images: Array.from({ length: count }, () => image(bytes)),
});
const result = (id: string, bytes?: number): Message => ({
  role: "tool",
  id,
  name: "Read",
  output: id,
  isError: false,
  images: [image(bytes)],
});
const counts = (messages: readonly Message[]) =>
  messages.map((message) => ("images" in message ? (message.images?.length ?? 0) : 0));

test("a model that cannot see is told so at each place, by the same objects each time", () => {
  const messages = [user(2), result("a"), { role: "note", text: "n" } as const];
  const [asked, answered, note] = withShownImages(messages, { sees: false });
  expect(asked).toEqual({ role: "user", text: "look", attached: expect.stringContaining("cannot see images") });
  expect(answered).toEqual({
    role: "tool",
    id: "a",
    name: "Read",
    isError: false,
    output: expect.stringMatching(/^a\n\[.*cannot see images/),
  });
  expect(note).toBe(messages[2]);
  expect(withShownImages(messages, { sees: false })).toEqual([asked, answered, note]);
  expect(withShownImages(messages, { sees: false })[1]).toBe(answered);
});

test("what fits stays as it is", () => {
  const messages = [user(10), ...Array.from({ length: 10 }, (_, at) => result(`${at}`))];
  expect(withShownImages(messages, { sees: true })).toEqual(messages);
});

test.each([
  ["too many", [user(15), result("a"), user(5), result("b")], [0, 1, 5, 1]],
  ["too many at once", [result("a"), user(25)], [0, 25]],
  ["too many bytes", [result("a", 5e6), result("b", 3e6), result("c", 3e6), result("d", 2e6)], [0, 0, 1, 1]],
  ["one that is too large by itself", [result("a", 5), result("b", 2e7)], [0, 1]],
])("%s: the oldest go", (_name, messages, want) => {
  expect(counts(withShownImages(messages, { sees: true }))).toEqual(want);
});

test("what was sent once is the beginning of what is sent next, until there are too many", () => {
  const messages = Array.from({ length: 100 }, (_, at) => result(`${at}`, 100_000));
  let changes = 0;
  for (let count = 1; count < messages.length; count++) {
    const before = withShownImages(messages.slice(0, count), { sees: true });
    const after = withShownImages(messages.slice(0, count + 1), { sees: true });
    if (before.some((message, at) => after[at] !== message)) changes += 1;
    expect(after.at(-1)).toBe(messages[count]);
  }
  expect(changes).toBe(8);
});
