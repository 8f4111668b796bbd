import { runningSha256, sha256Hex } from "@gennai/protocol/digest";
import fc from "fast-check";
import { expect, it } from "vitest";
import { sha256 } from "#native-sha256";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

it("gives the digests that the protocol's library gives, at once and in pieces", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (pieces) => {
      const [ours, theirs] = [sha256.create(), runningSha256()];
      for (const piece of pieces) {
        ours.update(piece);
        theirs.update(piece);
        expect(hex(ours.clone().digest())).toBe(theirs.hex());
      }
      const whole = Buffer.concat(pieces);
      expect([hex(sha256(whole)), hex(ours.digest())]).toEqual([sha256Hex(whole), theirs.hex()]);
    }),
  );
});
