import { describe, expect, test } from "vitest";
import { createRedactor } from "#redaction/redactor";
import { noise, seen } from "./secret-cases.ts";
import { announced, tokens } from "./token-cases.ts";

const redactor = await createRedactor();

/** As it comes out of a stream that gets it in pieces of this many characters. */
async function streamed(text: string, size: number): Promise<string> {
  const stream = redactor.stream();
  let shown = "";
  for (let at = 0; at < text.length; at += size) shown += await stream.push(text.slice(at, at + size));
  return shown + (await stream.end());
}

async function live(text: string, size: number): Promise<string> {
  const stream = redactor.live();
  let shown = "";
  for (let at = 0; at < text.length; at += size) {
    const piece = text.slice(at, at + size);
    shown += stream.pushNow(piece) ?? (await stream.push(piece));
  }
  return shown + (await stream.flush());
}

describe("a token is masked by its shape alone", () => {
  test.each(tokens)("%s", async (_, token) => {
    for (const [before, behind] of [
      ["x ", " y"],
      ['k="', '"'],
      ["see ", "."],
      ["backup/", ".txt"],
      ["\u001b[31m", "\u001b[0m\n"],
      ["name_", ""],
    ] as const) {
      const masked = await redactor.redact(before + token + behind);
      expect(masked, before).not.toContain(token.slice(-10));
      expect(masked, before).toMatch(/\[REDACTED:[a-z0-9-]+\]/);
      expect(await redactor.redact(masked)).toBe(masked);
    }
  });

  test.each(tokens)("%s, in pieces", async (_, token) => {
    const text = `It is written: ${token} and no more`;
    expect(await streamed(text, 7)).toBe(await redactor.redact(text));
    expect(seen(await live(text, 5), token)).toBeLessThanOrEqual(8);
  });
});

describe("a secret is masked by what stands before it", () => {
  test.each(announced)("%s", async (_, text, secret) => {
    const masked = await redactor.redact(text);
    expect(masked).not.toContain(secret);
    expect(masked).toMatch(/\[REDACTED:[a-z0-9-]+\]/);
    expect(await redactor.redact(masked)).toBe(masked);
    expect((await redactor.redact(`${"word ".repeat(30)}\n${text}\n${"word ".repeat(30)}`)).includes(secret)).toBe(
      false,
    );
  });

  test.each(announced)("%s, in pieces", async (_, text, secret) => {
    const whole = await redactor.redact(text);
    for (const size of [1, 6, 23]) expect(await streamed(text, size), `by ${size}`).toBe(whole);
    const left = secret.length <= 8 ? secret.length - 1 : 8;
    for (const size of [1, 6, 23]) expect(seen(await live(text, size), secret), `by ${size}`).toBeLessThanOrEqual(left);
  });
});

const secret = `p&ss w=rd/${noise(30)}`;
const bytes = Buffer.from(secret);
const wrapped = (text: string): string => text.replaceAll(/.{76}/g, "$&\n");
test.each<[string, string]>([
  ["as it is", secret],
  ["in JSON", JSON.stringify(`"${secret}"`)],
  ["in an address", encodeURIComponent(secret)],
  ["in a form", new URLSearchParams({ secret }).toString()],
  ["every byte in an address", bytes.toString("hex").replaceAll(/../g, "%$&")],
  ["hex", bytes.toString("hex")],
  ["hex in capitals", bytes.toString("hex").toUpperCase()],
  ...["", "x", "xy", "user:", "a longer beginning "].flatMap((before): [string, string][] => [
    [`base64 behind ${before.length} bytes`, Buffer.from(`${before}${secret} and more`).toString("base64")],
    [`base64url behind ${before.length} bytes`, Buffer.from(`${before}${secret}`).toString("base64url")],
  ]),
  ...[20, 30, 40, 50].map((length): [string, string] => [
    `base64 on lines, behind ${length} bytes`,
    wrapped(Buffer.from(`${"-".repeat(length)}${secret}${"-".repeat(60)}`).toString("base64")),
  ]),
])("what is known is masked in every coding: %s", async (_, text) => {
  const knowing = await createRedactor({ secrets: [secret] });
  const decoded = (masked: string): string => {
    const plain = masked.replaceAll(/\s|\[REDACTED:known-secret\]/g, "");
    return [
      plain,
      Buffer.from(plain, "base64").toString("latin1"),
      Buffer.from(plain, "hex").toString("latin1"),
    ].join();
  };
  const whole = await knowing.redact(`of ${text} end`);
  expect(whole).toContain("[REDACTED:known-secret]");
  expect(seen(decoded(whole), noise(30))).toBeLessThan(6);
  const stream = knowing.stream();
  let shown = "";
  for (let at = 0; at < text.length; at += 11) shown += await stream.push(text.slice(at, at + 11));
  shown += await stream.end();
  expect(seen(decoded(shown), noise(30))).toBeLessThan(6);
});

/** Looks a little like a secret, and is none. */
const harmless: readonly string[] = [
  "interface Login { readonly token: Uint8Array; readonly password: string }",
  "type T = { token: Sha256Hash }\n  secretName: my-tls-2024\n",
  "const password = user2.password ?? oauth2Token;",
  "Usage: tool --token <token> --password PASSWORD --secret string",
  "mysql -u root -p shop; mysql -pPASSWORD",
  "curl -u $USER:$PASSWORD https://example.com",
  "redis://localhost:6379 amqp://user:password@localhost http://a:${PASS}@b",
  "src/app.ts:1024:5: error TS2345: Argument of type",
  "routes.rb:1024:get:index:show",
  "0b9a4b1e-8d0c-4c58-9f53-0c5d1d0c1f11 and 550e8400-e29b-41d4-a716-446655440000",
  "9fceb02d0ae598e95dc970b74767f19372d61af8 fix; 9fceb02..d0ae598",
  "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
  "machine learning login and password reset, by default login and password are asked for",
  "Authorization: undefined, authorization: incoming.headers.authorization, Authorization: REQUIRED",
  "X-Api-Key: apiKeyOfUser; x-api-key-header: name",
  "task-key-value sk-learn-contrib-estimators SKU pull-request key-value-store",
  "MyVeryLongClassNameForTests.create.somethingVeryLongIndeedForATest",
  "toolu_01Ti4QpUfhLV6QqCTFVY8C7w call_VSPygqKTWdrhaFErNvMV18Yl Experimental_TextBatchV4ItemResult",
  "node-cache-Linux-x64-npm-9fceb02d0ae598e95dc970b74767f19372d61af89fceb02d0ae598e95dc970b7 id_550e8400e29b41d4a716446655440000",
  "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 git-9fceb02d0ae598e95dc970b74767f19372d61af8",
  "publicKey: 'AYEKFALVFGyNhPJEMzD1QIDrY7hfZx09iUvxdX12', cacheKey = '9fceb02d0ae598e95dc970b74767f19372d61af8'",
  "primaryKey: 'shopping_cart_entry_of_customer_2', objectKey: \"assets/icons/arrow-left-24px.svg\"",
  "patternMatchingInTypescript.test.ts hf_hub_download pypi-server glob-parent-directory-walker",
];

test.each(harmless)("harmless: %s", async (text) => {
  expect(await redactor.redact(text)).toBe(text);
  expect(await streamed(text, 9)).toBe(text);
  expect(await live(text, 9)).toBe(text);
});
