import { createRedactor } from "@gennai/server/redaction/redactor";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

/** Letters and digits that look random and are the same in every run, so that no real token stands in this file. */
function noise(length: number, alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"): string {
  let state = length * 7919 + 17;
  let text = "";
  for (let index = 0; index < length; index += 1) {
    state = (state * 1103515245 + 12345) % 2147483648;
    text += alphabet.charAt(Math.floor(state / 65536) % alphabet.length);
  }
  return text;
}

const token = noise(43);
const pem = [
  "-----BEGIN RSA PRIVATE",
  " KEY-----\n",
  `${noise(64)}\n`.repeat(25),
  "-----END RSA PRIVATE",
  " KEY-----",
].join("");
const secrets: readonly { readonly name: string; readonly text: string; readonly secret: string }[] = [
  { name: "a GitHub token", text: `remote: ghp_${noise(36)} rejected`, secret: `ghp_${noise(36)}` },
  { name: "an npm token", text: `//registry/:_authToken=npm_${noise(36)}\n`, secret: noise(36) },
  { name: "an AWS key", text: `AWS_SECRET_ACCESS_KEY=${noise(40)}\nnext`, secret: noise(40) },
  { name: "an AWS key with blanks around =", text: `aws_secret_access_key = ${noise(40)}\nnext`, secret: noise(40) },
  { name: "an Anthropic key", text: `key sk-ant-api03-${noise(93)}AA.`, secret: noise(93) },
  {
    name: "a password in an address",
    text: "clone https://dev:pa55w0rdXyz@git.example.com/x ok",
    secret: "pa55w0rdXyz",
  },
  { name: "a database address", text: "DB postgres://app:s3cretPw0rd@db.example.com:5432/x\n", secret: "s3cretPw0rd" },
  { name: "a bearer header", text: `> Authorization: Bearer ${noise(32)}\n> Accept: */*`, secret: noise(32) },
  { name: "a bearer header in JSON", text: `{"headers":{"authorization":"Bearer ${noise(32)}"}}`, secret: noise(32) },
  { name: "a bearer token", text: `curl -H 'bearer ${noise(24)}1' x`, secret: noise(24) },
  { name: "a signed token", text: `cookie eyJ${noise(20)}.${noise(40)}.${noise(30)};`, secret: noise(40) },
  { name: "an assignment", text: "export DB_PASSWORD=hunter2hunter2\n", secret: "hunter2hunter2" },
  { name: "an assignment in JSON", text: '{"api_key": "abcd1234efgh5678", "x": 1}', secret: "abcd1234efgh5678" },
  { name: "a private key", text: `before\n${pem}\nafter\n`, secret: noise(64) },
  { name: "a private key in a diff", text: `diff\n+${pem.replaceAll("\n", "\n+")}\n end.\n`, secret: noise(64) },
  { name: "a private key in JSON", text: JSON.stringify({ a: 1, private_key: pem, b: 2 }), secret: noise(64) },
  { name: "a private key that is cut off", text: pem.slice(0, 700), secret: noise(64) },
  { name: "the server's own token", text: `Cookie: gennai=${token}; x`, secret: token },
  { name: "a secret as a key", text: JSON.stringify({ [`ghp_${noise(36)}`]: true }), secret: noise(36) },
  {
    name: "a secret after a comment that would switch rules off",
    text: `// secretlint-disable\nghp_${noise(36)}\n`,
    secret: noise(36),
  },
];

const ordinary: readonly string[] = [
  "",
  "Hello, world.",
  "const token = getToken(request);",
  "function login(password: string, secretName: SecretName): Promise<Token> {}",
  'const password = process.env.PASSWORD ?? "";',
  "See https://example.com/docs/getting-started#install for more.",
  "packages/governance/src/command/analyse-command.ts:12:3 error",
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  README.md",
  "look for a line -----BEGIN CERTIFICATE----- in it",
  "masked already: [REDACTED:github] and password=[REDACTED:assignment]",
];

describe("createRedactor", () => {
  it.each(secrets)("masks $name", async ({ text, secret }) => {
    const redactor = await createRedactor({ secrets: [token] });
    const redacted = await redactor.redact(text);
    expect(redacted).not.toContain(secret);
    expect(redacted).toMatch(/\[REDACTED:[a-z0-9-]+\]/);
    expect(await redactor.redact(redacted)).toBe(redacted);
  });

  it.each(ordinary)("leaves ordinary text as it is: %s", async (text) => {
    const redactor = await createRedactor({ secrets: ["abc", token] });
    expect(await redactor.redact(text)).toBe(text);
  });

  it("keeps what stands around a secret", async () => {
    const redactor = await createRedactor();
    expect(await redactor.redact(`a ghp_${noise(36)} b\nc`)).toBe("a [REDACTED:github] b\nc");
  });

  it("masks the longer of two secrets that begin alike", async () => {
    const redactor = await createRedactor({ secrets: ["prefix-one", "prefix-one-and-more"] });
    expect(await redactor.redact("x prefix-one-and-more y prefix-one z")).toBe(
      "x [REDACTED:known-secret] y [REDACTED:known-secret] z",
    );
  });

  it("takes linear time on long runs", async () => {
    const redactor = await createRedactor();
    const inputs = [
      "a".repeat(1_000_000),
      "-----BEGIN PRIVATE KEY-----".repeat(10_000),
      "token".repeat(100_000),
      `${"a.".repeat(200_000)}=`,
    ];
    const start = performance.now();
    for (const input of inputs) await redactor.redact(input);
    expect(performance.now() - start).toBeLessThan(8_000);
  });
});

describe("RedactionStream", () => {
  it.each(secrets)("masks $name however it is split", async ({ text, secret }) => {
    const redactor = await createRedactor({ secrets: [token] });
    const whole = await redactor.redact(text);
    const step = text.length > 400 ? 37 : 1;
    for (let at = 0; at <= text.length; at += step) {
      const stream = redactor.stream();
      const shown = (await stream.push(text.slice(0, at))) + (await stream.push(text.slice(at))) + (await stream.end());
      expect(shown, `split at ${at}`).toBe(whole);
      expect(shown).not.toContain(secret);
    }
  });

  it("masks in pieces of any size what it masks whole", async () => {
    const redactor = await createRedactor({ secrets: [token] });
    const text = secrets.map((row) => row.text).join("\nsome words between, so that the stream moves on\n");
    const whole = await redactor.redact(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 20 }), async (sizes) => {
        const stream = redactor.stream();
        let shown = "";
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          shown += await stream.push(text.slice(at, at + size));
          at += size;
        }
        expect(shown + (await stream.end())).toBe(whole);
      }),
      { numRuns: 12 },
    );
  });

  it("shows ordinary words at once and holds back only the last", async () => {
    const stream = (await createRedactor()).stream();
    expect(await stream.push("one two thr")).toBe("one two ");
    expect(await stream.push("ee\n")).toBe("three\n");
    expect(await stream.end()).toBe("");
  });

  it("holds back no more than its window of a run without blanks", async () => {
    const stream = (await createRedactor()).stream();
    let shown = 0;
    for (let piece = 0; piece < 40; piece += 1) shown += (await stream.push("ab,".repeat(300))).length;
    expect(shown).toBeGreaterThan(40 * 900 - 8_192);
  });

  it("masks a key that never ends, and shows what follows one that does", async () => {
    const stream = (await createRedactor()).stream();
    const header = ["-----BEGIN PRIVATE", " KEY-----\n"].join("");
    let shown = await stream.push(`start\n${header}`);
    for (let line = 0; line < 600; line += 1) shown += await stream.push(`${noise(64)}\n`);
    shown += await stream.push(`${["-----END PRIVATE", " KEY-----"].join("")}\n; visible\n`);
    shown += await stream.end();
    expect(shown).not.toContain(noise(64));
    expect(shown.startsWith("start\n[REDACTED:")).toBe(true);
    expect(shown).toContain("visible");
  });

  it("keeps the order of pieces that are pushed without waiting", async () => {
    const stream = (await createRedactor()).stream();
    const shown = await Promise.all([
      stream.push("one "),
      stream.push(`ghp_${noise(36)} `),
      stream.push("two "),
      stream.end(),
    ]);
    expect(shown.join("")).toBe("one [REDACTED:github] two ");
  });
});
