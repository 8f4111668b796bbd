import { samplePng } from "@gennai/testkit/sample-images";
import { describe, expect, test } from "vitest";
import { judgeImage } from "#formats/fit-image";

const latin1 = (text: string) => [...Buffer.from(text, "latin1")];
const thumbnail = [0xff, 0xd8, 0xff, 0xd9];

/** Each with what an end is often taken for: the bytes of an end in a comment, a smaller image inside, tables. */
const whole: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ["PNG", samplePng(3, 2)],
  [
    "GIF",
    Uint8Array.from([
      ...latin1("GIF89a"),
      ...[1, 0, 1, 0, 0x80, 0, 0, 1, 2, 3, 4, 5, 6],
      ...[0x21, 0xfe, 2, 0x3b, 0x3b, 0],
      ...[0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0x80, 6, 5, 4, 3, 2, 1, 2, 2, 0x4c, 0x01, 0],
      0x3b,
    ]),
  ],
  [
    "JPEG",
    Uint8Array.from([
      ...[0xff, 0xd8, 0xff, 0xe1, 0, 6, ...thumbnail],
      ...[0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 0, 0x11, 0],
      ...[0xff, 0xda, 0, 8, 1, 1, 0, 0, 0x3f, 0],
      ...[0x12, 0xff, 0, 0x34],
      ...[0xff, 0xd9],
    ]),
  ],
  [
    "WebP",
    Uint8Array.from([
      ...latin1("RIFF"),
      ...[22, 0, 0, 0],
      ...latin1("WEBPVP8L"),
      ...[10, 0, 0, 0],
      ...[0x2f, 0, 0, 0, 0, 7, 7, 7, 7, 7],
    ]),
  ],
];

describe.each(whole)("%s", (_name, bytes) => {
  test("is fit when it is whole, whatever stands behind it", () => {
    expect(judgeImage(bytes)).toMatchObject({ type: "image" });
    expect(judgeImage(Uint8Array.from([...bytes, 0, 0, 7]))).toMatchObject({ type: "image" });
  });

  test("is unfit wherever it is cut", () => {
    for (let length = 12; length < bytes.length; length++)
      expect([length, judgeImage(bytes.subarray(0, length))]).toMatchObject([
        length,
        { type: "unfit", problem: expect.stringContaining("damaged or cut") },
      ]);
  });
});

test.each([
  ["a PNG without pixels", Uint8Array.from([...samplePng().subarray(0, 33), ...samplePng().subarray(-12)])],
  ["a GIF without pixels", Uint8Array.from([...latin1("GIF89a"), 1, 0, 1, 0, 0, 0, 0, 0x3b])],
  ["a GIF of anything else", Uint8Array.from([...latin1("GIF89a"), 1, 0, 1, 0, 0, 0, 0, 7, 0x3b])],
])("%s is unfit", (_name, bytes) => {
  expect(judgeImage(bytes)).toMatchObject({ type: "unfit" });
});
