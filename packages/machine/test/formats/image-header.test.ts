import { samplePng } from "@gennai/testkit/sample-images";
import { expect, test } from "vitest";
import { judgeImage } from "#formats/fit-image";
import { type ImageHeader, readImageHeader } from "#formats/image-header";

const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))));
const zeros = (count: number) => Array.from({ length: count }, () => 0);

const pngOf = (width: readonly number[], height: readonly number[]) =>
  bytes("\x89PNG\r\n\x1a\n", [0, 0, 0, 13], "IHDR", width, height, zeros(9));
const riff = (...parts: readonly (string | readonly number[])[]) => bytes("RIFF", zeros(4), "WEBP", ...parts);
const frame = [0xff, 0xc0, 0, 17, 8, 0x01, 0x2c, 0x02, 0x58, 3];

test.each<[string, Uint8Array, ImageHeader | undefined]>([
  ["PNG", samplePng(640, 3), { mediaType: "image/png", size: { width: 640, height: 3 } }],
  [
    "PNG of four thousand million pixels a side",
    pngOf([255, 255, 255, 255], [255, 255, 255, 255]),
    { mediaType: "image/png", size: { width: 0xffffffff, height: 0xffffffff } },
  ],
  ["PNG without pixels", pngOf(zeros(4), zeros(4)), { mediaType: "image/png", size: undefined }],
  ["PNG, cut in its size", pngOf([0, 0, 0, 1], []).subarray(0, 22), { mediaType: "image/png", size: undefined }],
  ["PNG, nothing but its signature", bytes("\x89PNG\r\n\x1a\n"), { mediaType: "image/png", size: undefined }],
  ["GIF", bytes("GIF89a", [5, 1, 7, 0]), { mediaType: "image/gif", size: { width: 261, height: 7 } }],
  ["GIF, cut", bytes("GIF87a", [5, 1]), { mediaType: "image/gif", size: undefined }],
  [
    "JPEG behind two segments and filling bytes",
    bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xe1, 0, 3, 9], frame),
    { mediaType: "image/jpeg", size: { width: 600, height: 300 } },
  ],
  [
    "JPEG, a table that looks like a frame",
    bytes([0xff, 0xd8, 0xff, 0xc4, 0, 4, 1, 2], frame),
    { mediaType: "image/jpeg", size: { width: 600, height: 300 } },
  ],
  [
    "JPEG, a segment of no length",
    bytes([0xff, 0xd8, 0xff, 0xe0, 0, 0], zeros(20)),
    { mediaType: "image/jpeg", size: undefined },
  ],
  [
    "JPEG, a segment beyond the end",
    bytes([0xff, 0xd8, 0xff, 0xe0, 255, 255], zeros(20)),
    { mediaType: "image/jpeg", size: undefined },
  ],
  [
    "JPEG, nothing but 0xff",
    bytes(
      [0xff, 0xd8],
      Array.from({ length: 5_000 }, () => 255),
    ),
    { mediaType: "image/jpeg", size: undefined },
  ],
  [
    "WebP, lossy",
    riff("VP8 ", zeros(7), "\x9d\x01\x2a", [0x80, 0x42, 0xe0, 0x01]),
    { mediaType: "image/webp", size: { width: 640, height: 480 } },
  ],
  [
    "WebP, lossless",
    riff("VP8L", zeros(4), [0x2f, 0xff, 0xc1, 0x3f, 0], zeros(6)),
    { mediaType: "image/webp", size: { width: 512, height: 256 } },
  ],
  [
    "WebP, extended",
    riff("VP8X", zeros(8), [0xff, 0xff, 0xff, 1, 0, 0]),
    { mediaType: "image/webp", size: { width: 16_777_216, height: 2 } },
  ],
  ["WebP, cut", riff("VP8X", zeros(4)), { mediaType: "image/webp", size: undefined }],
  ["WebP of an unknown kind", riff("VP9 ", zeros(30)), { mediaType: "image/webp", size: undefined }],
  ["a sound", bytes("RIFF", zeros(4), "WAVE", zeros(30)), undefined],
  ["half a signature", bytes("\x89PNG"), undefined],
  ["SVG", bytes("<svg xmlns='http://www.w3.org/2000/svg'/>"), undefined],
  ["BMP", bytes("BM", zeros(60)), undefined],
  ["nothing", bytes(), undefined],
])("%s", (_name, content, header) => {
  expect(readImageHeader(content)).toEqual(header);
});

test.each<[string, Uint8Array, RegExp]>([
  [
    "a bomb",
    pngOf([0, 1, 0, 0], [0, 1, 0, 0]),
    /PNG, 65536 x 65536 pixels, 33 bytes: models take at most .*8000 pixels/,
  ],
  [
    "many bytes",
    Buffer.concat([samplePng(), Buffer.alloc(4_000_000)]),
    /PNG, 2 x 2 pixels, 40000\d\d bytes: models take/,
  ],
  ["damage", bytes("GIF89a"), /begins as GIF and is damaged or cut/],
])("too much for a model: %s", (_name, content, problem) => {
  const verdict = judgeImage(content);
  expect(verdict.type === "unfit" ? verdict.problem : verdict).toMatch(problem);
});

test("one that is just small enough", () => {
  const image = samplePng(8_000, 8_000);
  expect(judgeImage(image)).toMatchObject({
    type: "image",
    image: { mediaType: "image/png", description: `PNG, 8000 x 8000 pixels, ${image.length} bytes` },
  });
});
