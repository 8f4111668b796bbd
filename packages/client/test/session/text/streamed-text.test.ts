import { expect, test } from "vitest";
import { StreamedText } from "#session/text/streamed-text";

const piece = (firstSeq: number, text: string) => ({ firstSeq: BigInt(firstSeq), text });

test.each([
  ["whole", undefined, "Hello, you!"],
  ["in part", 4, "you!"],
])("a replayed whole adds only what was not seen, also where the text is kept %s", (_name, keep, kept) => {
  const streamed = new StreamedText(keep);
  expect(streamed.add(piece(1, "Hel"))).toBe("Hel");
  expect(streamed.add(piece(2, "lo"))).toBe("lo");
  expect(streamed.add(piece(1, "Hello, you"))).toBe(", you");
  expect(streamed.add(piece(5, "!"))).toBe("!");
  expect(streamed.text).toBe(kept);
  expect(streamed.add(piece(1, "Hello, you! And"))).toBe(" And");
});

test("a piece that replaces other words is new as a whole", () => {
  const streamed = new StreamedText();
  streamed.add(piece(1, "abc"));
  expect(streamed.add(piece(1, "xyz"))).toBe("xyz");
});
