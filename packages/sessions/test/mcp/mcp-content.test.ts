import { samplePng } from "@gennai/testkit/sample-images";
import { expect, test } from "vitest";
import { readMcpContent } from "#mcp/mcp-content";

const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64");
const image = (data: string, mimeType = "image/png") => ({ type: "image", mimeType, data });

test.each<[string, readonly object[], string | RegExp, number]>([
  ["text alone", [{ type: "text", text: "hello" }], "hello", 0],
  ["what nobody sees", [{ type: "text", text: "he\u{E0041}\u200bl\u202elo\u001b[8m 👩‍🚀" }], "hello 👩‍🚀", 0],
  [
    "an image, by its bytes and not by what the server calls it",
    [{ type: "text", text: "here:" }, image(base64(samplePng(3, 2)), "text/html")],
    "here:\n[image 1: PNG, 3 x 2 pixels, 71 bytes]",
    1,
  ],
  [
    "what is not an image",
    [image(base64("<script>"))],
    "[image/png, 8 bytes, not shown: no PNG, JPEG, GIF or WebP]",
    0,
  ],
  ["what is no base64", [image("\u0000 %%%")], /not shown/, 0],
  ["a damaged one", [image(base64("GIF89a"))], /^\[image, not shown: It begins as GIF and is damaged/, 0],
  ["a cut one", [image(base64(samplePng().subarray(0, -1)))], /^\[image, not shown: PNG, 2 x 2.*damaged or cut/, 0],
  ["a bomb", [image(base64(bomb()))], /^\[image, not shown: PNG, 70000 x 70000 pixels.*models take at most/, 0],
  [
    "ten of them",
    Array.from({ length: 10 }, (_, at) => image(base64(samplePng(at + 1, 1)))),
    /at most 8 of a result are\]$/,
    8,
  ],
  ["a sound", [{ type: "audio", mimeType: "audio/wav", data: base64("RIFF") }], "[audio/wav, 6 bytes]", 0],
])("%s", (_name, content, text, images) => {
  const read = readMcpContent({ content });
  if (typeof text === "string") expect(read.text).toBe(text);
  else expect(read.text).toMatch(text);
  expect(read.images).toHaveLength(images);
});

function bomb(): Uint8Array {
  const bytes = samplePng();
  new DataView(bytes.buffer).setUint32(16, 70_000);
  new DataView(bytes.buffer).setUint32(20, 70_000);
  return bytes;
}

test("structured content is told where no text repeats it, and pictures of resources are shown", () => {
  const structuredContent = { degrees: 21 };
  const text = (words: string) => ({ type: "text", text: words });
  expect(readMcpContent({ content: [text("warm")], structuredContent }).text).toBe('warm\n{"degrees":21}');
  expect(readMcpContent({ content: [text('{ "degrees": 21 }')], structuredContent }).text).toBe('{ "degrees": 21 }');
  expect(readMcpContent({ content: [], structuredContent }).text).toBe('{"degrees":21}');
  const resource = { uri: "a://b", mimeType: "image/png", blob: base64(samplePng(3, 2)) };
  const shown = readMcpContent({ content: [{ type: "resource", resource }] });
  expect(shown.text).toBe("[image/png a://b] [image 1: PNG, 3 x 2 pixels, 71 bytes]");
  expect(shown.images).toHaveLength(1);
});
