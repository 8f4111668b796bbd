import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArgumentsRedaction, redactArguments } from "#redaction/arguments-redaction";
import { createRedactor } from "#redaction/redactor";
import { noise, ownToken, secrets } from "./secret-cases.ts";

const redactor = await createRedactor({ secrets: [ownToken] });

async function inPieces(json: string, size: number): Promise<string> {
  const redaction = new ArgumentsRedaction(redactor);
  let shown = "";
  for (let at = 0; at < json.length; at += size) shown += await redaction.push(json.slice(at, at + size));
  return shown + (await redaction.end());
}

describe("redactArguments", () => {
  it.each(secrets)("masks $name in a string, and leaves valid JSON", async ({ text, secret }) => {
    for (const value of [text, `first line\n${text}`, `"${text}"`]) {
      const json = JSON.stringify({ command: value, other: ["x", 1, true, null] });
      const masked = await redactArguments(json, redactor);
      expect(masked).not.toContain(secret);
      expect(masked).toContain("[REDACTED:");
      expect(JSON.parse(masked)).toMatchObject({ other: ["x", 1, true, null] });
      for (const size of [1, 7]) expect(await inPieces(json, size)).toBe(masked);
    }
  });

  it.each([
    ["a value whose key says what it is", '{"api_key" : "abcd1234efgh5678"}', '{"api_key" : "[REDACTED:assignment]"}'],
    ["a key", `{"ghp_${noise(36)}":1}`, '{"[REDACTED:github]":1}'],
    ["a secret in escapes", `{"a":"\\u0067hp_${noise(36)}"}`, '{"a":"[REDACTED:github]"}'],
    ["a secret behind an escape", `{"a":"x\\nghp_${noise(36)}"}`, '{"a":"x\\n[REDACTED:github]"}'],
    ["JSON that was cut off", `{"a":"ghp_${noise(36)}`, '{"a":"[REDACTED:github]'],
    ["what is not JSON", `ghp_${noise(36)}`, "[REDACTED:github]"],
    ["an escape that was cut off", `{"a":"ghp_${noise(36)} \\`, '{"a":"[REDACTED:github] \\'],
  ])("masks %s", async (_name, json, wanted) => {
    expect(await redactArguments(json, redactor)).toBe(wanted);
  });

  it("leaves JSON without secrets as it is, in pieces of any size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.integer({ min: 1, max: 20 }), async (json, size) => {
        expect(await redactArguments(json, redactor)).toBe(json);
        expect(await inPieces(json, size)).toBe(json);
      }),
    );
  });
});
