import { Writable } from "node:stream";
import { setImmediate as nextTick } from "node:timers/promises";
import { expect, test } from "vitest";
import { writeLines } from "#terminal/write-lines";

const size = 1_000;

test("asks for no line before the reader has taken those before it", async () => {
  let asked = 0;
  let written = 0;
  let most = 0;
  const output = new Writable({
    highWaterMark: 3 * size,
    write: (chunk: Buffer, _encoding, callback) => {
      written += chunk.length / size;
      setImmediate(callback);
    },
  });
  async function* lines() {
    for (; asked < 200; asked += 1) {
      most = Math.max(most, asked - written);
      yield "x".repeat(size);
    }
  }
  await writeLines(lines(), output);
  await new Promise((resolve) => output.end(resolve));
  expect(written).toBe(200);
  expect(most).toBeLessThanOrEqual(4);
});

test("asks for no more lines of a reader that went away", async () => {
  const output = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, callback) => callback(Object.assign(new Error("gone"), { code: "EPIPE" })),
  });
  // As the program's console does.
  output.on("error", () => undefined);
  let asked = 0;
  let ended = false;
  async function* lines() {
    try {
      for (;;) {
        asked += 1;
        await nextTick();
        yield "line\n";
      }
    } finally {
      ended = true;
    }
  }
  await writeLines(lines(), output);
  expect({ asked: asked <= 2, ended }).toEqual({ asked: true, ended: true });
  expect(output.listenerCount("drain")).toBe(0);
});
