import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { askAt, eventStream, formats, framesOf, rawServer } from "./every-format.ts";

const call = { id: "c1", name: "Read", arguments: { path: "src/main.ts", offset: 3 } };
const answer = { thinking: ["Let me ", "look."], text: ["I will ", "read ", "it."], calls: [call] };

type Damage = (bytes: Buffer) => Buffer;

const at = (share: number, bytes: Buffer) => Math.floor(share * bytes.length);
const share = fc.double({ min: 0, max: 0.999, noNaN: true });
const damages: fc.Arbitrary<{ readonly isCut: boolean; readonly damage: Damage }> = fc.oneof(
  {
    weight: 3,
    arbitrary: share.map((where) => ({ isCut: true, damage: (bytes: Buffer) => bytes.subarray(0, at(where, bytes)) })),
  },
  // A byte that became another one; a piece that was lost, or came twice.
  fc.tuple(share, fc.nat(255)).map(([where, byte]) => ({
    isCut: false,
    damage: (bytes: Buffer) => {
      const changed = Buffer.from(bytes);
      changed[at(where, bytes)] = byte;
      return changed;
    },
  })),
  fc.tuple(share, fc.nat(400)).map(([where, length]) => ({
    isCut: false,
    damage: (bytes: Buffer) =>
      Buffer.concat([bytes.subarray(0, at(where, bytes)), bytes.subarray(at(where, bytes) + length)]),
  })),
  fc.tuple(share, fc.nat(400)).map(([where, length]) => ({
    isCut: false,
    damage: (bytes: Buffer) =>
      Buffer.concat([bytes.subarray(0, at(where, bytes) + length), bytes.subarray(at(where, bytes))]),
  })),
);

describe.each(formats)("%s", (format) => {
  test("no stream that was damaged hangs or throws what is no ModelError, and none that was cut passes for half an answer", async () => {
    const whole = Buffer.from(framesOf(format, answer).join(""));
    await fc.assert(
      fc.asyncProperty(damages, fc.boolean(), async ({ isCut, damage }, dies) => {
        await using server = await rawServer((response) => {
          response.writeHead(200, eventStream);
          response.write(damage(whole), () => (dies ? response.destroy() : response.end()));
        });
        const { finish, error, text, calls } = await askAt(format, server, { maxAttempts: 2, silence: 3_000 });
        expect((finish === undefined) !== (error === undefined)).toBe(true);
        // Behind the last of an answer there are frames that say nothing of it.
        if (isCut && finish !== undefined) {
          expect([text, calls]).toEqual(["I will read it.", [`Read ${JSON.stringify(call.arguments)}`]]);
        }
      }),
      { numRuns: 60, examples: [] },
    );
  });
});
