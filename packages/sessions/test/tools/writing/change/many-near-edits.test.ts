import { patchText } from "@gennai/machine/changes/patch-text";
import { sha256Hex } from "@gennai/protocol/digest";
import { expect, test } from "vitest";
import { editText } from "#tools/writing/change/edit-text";

/** Lines that come again and again, in another order each time: the worst there is to compare. */
function lines(seed: number, indent: string): string[] {
  let state = seed;
  return Array.from({ length: 6_000 }, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return `${indent}${(state >> 16) % 12};`;
  });
}

const blocks = Array.from({ length: 10 }, (_, at) => ({
  // White space at the ends of lines: the file has it only nearly.
  inFile: lines(at + 1, `b${at} `).map((line) => `${line} `),
  wanted: lines(at + 1, `b${at} `),
  fresh: lines(at + 101, `b${at} `),
}));
const file = `${blocks.flatMap(({ inFile }) => inFile).join("\n")}\n`;
const wanted = `${blocks.flatMap(({ fresh }) => fresh).join("\n")}\n`;

/** Milliseconds of the processor, which others' work does not make longer. */
function spent(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

test("edits that a large file has only nearly take a bounded time together, and are made", () => {
  const bytes = Buffer.from(file);
  const edits = blocks.map((block) => ({ old_string: block.wanted.join("\n"), new_string: block.fresh.join("\n") }));
  let text = "";
  const ms = spent(() => {
    text = editText({ bytes, sha256: sha256Hex(bytes) }, edits, "a.js").text.text;
  });
  expect(text.replaceAll(/ +$/gm, "")).toBe(wanted);
  expect(ms).toBeLessThan(3_000);
});

test("so do the hunks of a patch", () => {
  const hunks = blocks.map((block) => ({
    sections: [],
    oldLines: block.wanted,
    newLines: block.fresh,
    endOfFile: false,
  }));
  let text = "";
  const ms = spent(() => {
    text = patchText(file, hunks, "a.js").text;
  });
  expect(text.replaceAll(/ +$/gm, "")).toBe(wanted);
  expect(ms).toBeLessThan(3_000);
});
