import { expect, test } from "vitest";
import { boundedLines } from "#policy-workbench/bounded-lines";

test("lines come whole whatever the pieces, and long ones are not kept", async () => {
  async function* pieces() {
    yield Buffer.from("a\nbé".slice(0, 3));
    yield Buffer.from("é\n");
    yield "x".repeat(50);
    yield `${"x".repeat(60)}\nlast`;
  }
  expect(await Array.fromAsync(boundedLines(pieces(), 100))).toEqual(["a", "bé", undefined, "last"]);
});
