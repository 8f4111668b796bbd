import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "#redaction/redactor";
import { noise, ownToken, secrets, seen } from "./secret-cases.ts";

/** Characters of a secret that may be seen before it is told from a word. */
const bound = 8;

async function shownOf(pieces: readonly string[]): Promise<string> {
  const stream = (await createRedactor({ secrets: [ownToken] })).live();
  let shown = "";
  for (const piece of pieces) shown += stream.pushNow(piece) ?? (await stream.push(piece));
  return shown + (await stream.flush());
}

describe("LiveRedactionStream", () => {
  it.each(secrets)("masks $name but for its first characters, however it is split", async ({ text, secret }) => {
    const step = text.length > 400 ? 37 : 1;
    for (let at = 0; at <= text.length; at += step) {
      const shown = await shownOf([text.slice(0, at), text.slice(at)]);
      // A piece of the mask or of the words around it may look like one of the secret.
      expect(seen(shown, secret), `split at ${at}: ${shown}`).toBeLessThanOrEqual(bound);
      expect(shown).toContain("[REDACTED:");
    }
  });

  it.each(secrets)("masks $name letter by letter", async ({ text, secret }) => {
    const shown = await shownOf([...text]);
    expect(seen(shown, secret), shown).toBeLessThanOrEqual(bound);
    expect(shown).toContain("[REDACTED:");
  });

  it("masks in pieces of any size, with prose around", async () => {
    const prose = "\nThe quick brown fox: it jumps, over the lazy dog (twice) and back.\n";
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...secrets], { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 }),
        async (rows, sizes) => {
          const text = rows.map((row) => `${prose}${row.text}`).join("") + prose;
          const pieces: string[] = [];
          for (let at = 0, turn = 0; at < text.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            pieces.push(text.slice(at, at + size));
            at += size;
          }
          const shown = await shownOf(pieces);
          for (const { name, secret } of rows)
            expect(seen(shown, secret), `${name}\n${shown}`).toBeLessThanOrEqual(bound);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("shows every text without secrets as it is, in pieces of any size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ maxLength: 12 }), { maxLength: 30 }), async (pieces) => {
        expect(await shownOf(pieces)).toBe(pieces.join(""));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ["half a word", ["The qui", "ck brown fo", "x jumps."]],
    ["marks", ["Note: ", "see (", "the list) - ", "or not?\n"]],
    ["other scripts", ["これは", "テストです。", "Größe"]],
    ["a list", ["- one\n", "- two\n", "1. thr", "ee\n"]],
    ["talk about secrets", ["The token is", " in the key", " vault, pass", "word or not"]],
  ])("shows %s at once", async (_name, pieces) => {
    const stream = (await createRedactor({ secrets: [ownToken] })).live();
    for (const piece of pieces) expect(stream.pushNow(piece)).toBe(piece);
    expect(stream.holding).toBe(false);
  });

  it("holds back a name with digits until it ends", async () => {
    const stream = (await createRedactor()).live();
    expect(stream.pushNow("See utf8_")).toBe("See ");
    expect(stream.holding).toBe(true);
    expect(stream.pushNow("mb4 there")).toBe("utf8_mb4 there");
  });

  it("still masks what follows a flush", async () => {
    const stream = (await createRedactor()).live();
    const secret = noise(36);
    let shown = (await stream.push("a gh")) + (await stream.flush());
    shown += (await stream.push(`p_${secret} b`)) + (await stream.flush());
    expect(shown).toBe("a gh[REDACTED:github] b");
  });

  it("masks a key that never ends, and shows what follows one that does", async () => {
    const stream = (await createRedactor()).live();
    let shown = await stream.push(`start\n${["-----BEGIN PRIVATE", " KEY-----\n"].join("")}`);
    for (let line = 0; line < 600; line += 1) shown += await stream.push(`${noise(64)}\n`);
    shown += await stream.flush();
    shown += await stream.push(`${noise(64)}\n${["-----END PRIVATE", " KEY-----"].join("")}\n; visible\n`);
    shown += await stream.flush();
    expect(shown).not.toContain(noise(64));
    expect(shown.startsWith("start\n[REDACTED:")).toBe(true);
    expect(shown).toContain("visible");
  });

  it("lets go of a run without blanks that grows too long", async () => {
    const stream = (await createRedactor()).live();
    let shown = 0;
    for (let piece = 0; piece < 40; piece += 1) shown += (await stream.push("aB1,".repeat(225))).length;
    expect(shown).toBeGreaterThan(40 * 900 - 8_192);
  });

  it("costs little for harmless pieces", async () => {
    const stream = (await createRedactor({ secrets: [ownToken] })).live();
    const start = process.cpuUsage();
    for (let piece = 0; piece < 20_000; piece += 1) stream.pushNow("lorem ipsum ");
    expect(process.cpuUsage(start).user / 1000).toBeLessThan(1_500);
  });
});
