import { expect, test } from "vitest";
import { ItemText } from "#session/text/item-text";

const piece = (firstSeq: number, seq: number, text: string, itemId = "i") => ({
  itemId,
  firstSeq: BigInt(firstSeq),
  seq: BigInt(seq),
  text,
});

test("a replayed whole adds only what was not seen", () => {
  const items = new ItemText();
  expect(items.add(piece(1, 1, "Hel"))).toBe("Hel");
  expect(items.add(piece(2, 2, "lo"))).toBe("lo");
  expect(items.add(piece(1, 4, "Hello, you"))).toBe(", you");
  expect(items.add(piece(5, 5, "!"))).toBe("!");
  expect(items.text("i")).toBe("Hello, you!");
  expect(items.add(piece(2, 2, "other", "j"))).toBe("other");
});
