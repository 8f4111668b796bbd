import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "#redaction/redactor";
import { noise, pem, secrets, ownToken as token } from "./secret-cases.ts";

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

  it("masks an AWS key to its end, however far its name is", async () => {
    const redactor = await createRedactor();
    for (const blanks of [" ", " ".repeat(30)]) {
      const text = `aws_secret_access_key${blanks}=${blanks}${noise(40)} next`;
      expect(await redactor.redact(text)).toBe("[REDACTED:aws] next");
    }
  });

  it("masks the line in which a private key breaks off", async () => {
    const redactor = await createRedactor();
    const begun = pem.slice(0, 32 + 65 * 3 + 12);
    expect(await redactor.redact(`${begun}\n`)).toBe("[REDACTED:private-key]\n");
    const numbered = begun.split("\n").map((line, index) => `  ${index + 9}\t${line}`);
    expect(await redactor.redact(numbered.join("\n"))).toBe("  9\t[REDACTED:private-key]");
  });

  it.each(ordinary)("leaves ordinary text as it is: %s", async (text) => {
    const redactor = await createRedactor({ secrets: ["abc", token] });
    expect(await redactor.redact(text)).toBe(text);
  });

  it("keeps what stands around a secret", async () => {
    const redactor = await createRedactor();
    expect(await redactor.redact(`a ghp_${noise(36)} b\nc`)).toBe("a [REDACTED:github] b\nc");
  });

  it.each([
    ['the file has \\"const password = \\\\"hunter2hunter22\\\\";\\"', "hunter2hunter22"],
    ['{"content":"{\\"api_key\\": \\"k9k9k9k9k9k9\\"}"}', "k9k9k9k9k9k9"],
    ['{"content":"{\\"Authorization\\":\\"Basic YWxhZGRpbjpvcGVu\\"}"}', "YWxhZGRpbjpvcGVu"],
  ])("masks what is quoted in a quotation, and leaves JSON whole: %s", async (text, secret) => {
    const redacted = await (await createRedactor()).redact(text);
    expect(redacted).not.toContain(secret);
    expect(redacted.replace(/\[REDACTED:[a-z-]+\]/, secret)).toBe(text);
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
    const start = process.cpuUsage();
    for (const input of inputs) await redactor.redact(input);
    expect(process.cpuUsage(start).user / 1000).toBeLessThan(8_000);
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

describe("a text that was found clean", () => {
  it("is not clean any more when a secret in it is learnt", async () => {
    const redactor = await createRedactor();
    const text = "the session's name is crimson-octopus-42, as agreed";
    const looks = await Promise.all([redactor.redact(text), redactor.redact(text)]);
    expect(looks).toEqual([text, text]);
    redactor.learn("crimson-octopus-42");
    expect(await redactor.redact(text)).not.toContain("crimson-octopus");
  });

  it("is not remembered as clean when a secret in it is learnt while it is looked at", async () => {
    const redactor = await createRedactor();
    const text = "https://example.com/crimson-octopus-42";
    const looking = redactor.redact(text);
    redactor.learn("crimson-octopus-42");
    await looking;
    expect(await redactor.redact(text)).not.toContain("crimson-octopus");
  });
});
