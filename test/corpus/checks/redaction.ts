import assert from "node:assert/strict";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { type Checks, check, notApplicable } from "../corpus-case.ts";
import { callTool } from "../tool-call.ts";

/** Letters that look random, so that this file contains no real token. */
function noise(length: number): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  let state = length * 7919 + 17;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return alphabet.charAt(Math.floor(state / 65_536) % alphabet.length);
  }).join("");
}

const token = `ghp_${noise(36)}`;

async function assertMasked(text: string, secret: string, secrets: readonly string[] = []): Promise<void> {
  const redacted = await (await createRedactor({ secrets })).redact(text);
  assert.equal(redacted.includes(secret), false, redacted);
  assert.match(redacted, /\[REDACTED:[a-z0-9-]+\]/);
}

export const redactionChecks: Checks = {
  "RED-006": notApplicable("A documented limit: what is encoded on purpose is not recognised."),
  "RED-007": check(async () => {
    for (const text of [
      JSON.stringify({ [token]: { deep: [token] } }),
      `src/${token}.txt`,
      `Error: ${token}\n    at f (/ws/${token}.js:1:2)`,
      `curl -H 'x: ${token}' http://x.test`,
      `A=1\nGH=${token}\nB=2`,
      ` context\n-${token}\n+${token}\n ${token}`,
    ])
      await assertMasked(text, token);
  }),
  "RED-010": check(async () => {
    const redactor = await createRedactor({ secrets: ["abc"] });
    assert.equal(await redactor.redact("abc and abcdef"), "abc and abcdef");
  }),
  "RED-016": check(async () => {
    const called = await callTool(
      "Edit",
      { file_path: "src/a.ts", old_string: "key = [REDACTED:github]", new_string: "key = 1" },
      { first: [{ tool: "Read", args: { file_path: "src/a.ts" } }] },
    );
    assert.equal(called.code, "masked_text", called.output);
  }),
  "RED-018": check(async () => {
    const own = noise(43);
    for (const text of [`Cookie: gennai=${own}`, `approval ${own} spent`, `{"authorization":"Bearer ${own}"}`])
      await assertMasked(text, own, [own]);
  }),
};
