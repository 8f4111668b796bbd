import { describe, expect, it } from "vitest";
import { digestOf, sha256Hex } from "#digest";

describe("digests", () => {
  it("hashes text as UTF-8", () => {
    expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(sha256Hex("é")).toBe(sha256Hex(new TextEncoder().encode("é")));
    expect(sha256Hex(new Uint8Array())).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });

  it("gives a plan its published digest, whatever the order of its keys", () => {
    const plan =
      '{"steps":[{"verify":[],"id":"s1","title":"st","intent":"i","actions":[{"command":"npm test","type":"command"}]}],' +
      '"id":"p1","title":"T","summary":"S","risks":[]}';
    expect(digestOf(JSON.parse(plan))).toBe("558072518d251229f10b8da8ab03c34fde9b45a2d417e16bb40bcef3b6b9f58b");
  });
});
