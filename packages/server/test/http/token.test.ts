import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { privateFileLimit, UnsafeFileError } from "@gennai/machine/private-file";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createToken, digestToken, matchesToken, TokenError, takeServerToken } from "#http/token";

const GIVEN = "a-token-of-more-than-22-characters";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "gennai-token-"));
  const made = directory;
  return () => {
    vi.restoreAllMocks();
    return rm(made, { recursive: true, force: true });
  };
});

async function tokenFile(text: string, mode = 0o600): Promise<string> {
  const path = join(directory, "token");
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

test("fresh tokens are 256 bits and never the same", () => {
  const tokens = new Set(Array.from({ length: 50 }, createToken));
  expect(tokens.size).toBe(50);
  for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test("only the very token matches", () => {
  const digest = digestToken(GIVEN);
  expect([GIVEN, `${GIVEN}x`, GIVEN.slice(1), "", undefined].map((token) => matchesToken(token, digest))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(matchesToken(undefined, digestToken(""))).toBe(false);
});

describe("sources", () => {
  test("the variable comes first, and leaves the environment", async () => {
    const environment: Record<string, string | undefined> = { GENNAI_AUTH_TOKEN: GIVEN, PATH: "/bin" };
    const token = await takeServerToken({ environment, tokenFile: await tokenFile("another-one-that-is-long") });
    expect(token).toEqual({ type: "token", token: GIVEN, source: "environment", weak: false });
    expect(environment).toEqual({ PATH: "/bin" });
  });

  test("then the file", async () => {
    const token = await takeServerToken({ environment: {}, tokenFile: await tokenFile(`${GIVEN}\n`) });
    expect(token).toEqual({ type: "token", token: GIVEN, source: "file", weak: false });
  });

  test("then chance, also for an empty variable", async () => {
    const token = await takeServerToken({ environment: { GENNAI_AUTH_TOKEN: "" } });
    expect(token).toMatchObject({ type: "token", source: "random", weak: false });
  });

  test("a short one is called weak", async () => {
    expect(await takeServerToken({ environment: { GENNAI_AUTH_TOKEN: "secret" } })).toMatchObject({ weak: true });
  });

  test("none only when asked for", async () => {
    expect(await takeServerToken({ environment: {}, noAuth: true })).toEqual({ type: "none" });
  });

  test.each([
    ["no token, but the variable", { environment: { GENNAI_AUTH_TOKEN: GIVEN }, noAuth: true }],
    ["no token, but a file", { environment: {}, noAuth: true, tokenFile: "/x" }],
    ["spaces", { environment: { GENNAI_AUTH_TOKEN: "two words" } }],
    ["a line break", { environment: { GENNAI_AUTH_TOKEN: "a\r\nX: y" } }],
  ])("refused: %s", async (_name, options) => {
    await expect(takeServerToken(options)).rejects.toThrow(TokenError);
  });
});

describe("a token file that others can reach is refused", () => {
  const take = (file: string) => takeServerToken({ environment: {}, tokenFile: file });

  test.each([0o644, 0o640, 0o660, 0o602])("mode %o", async (mode) => {
    await expect(take(await tokenFile(GIVEN, mode))).rejects.toThrow(UnsafeFileError);
  });

  test.each([0o777, 0o1777, 0o775])("in a directory of mode %o", async (mode) => {
    const file = await tokenFile(GIVEN);
    await chmod(directory, mode);
    await expect(take(file)).rejects.toThrow(UnsafeFileError);
  });

  test("a link", async () => {
    const link = join(directory, "link");
    await symlink(await tokenFile(GIVEN), link);
    await expect(take(link)).rejects.toThrow(UnsafeFileError);
  });

  test("a directory", async () => {
    await mkdir(join(directory, "token"));
    await expect(take(join(directory, "token"))).rejects.toThrow(UnsafeFileError);
  });

  test("another user's", async () => {
    const file = await tokenFile(GIVEN);
    vi.spyOn(process, "getuid").mockReturnValue(12_345);
    await expect(take(file)).rejects.toThrow(UnsafeFileError);
  });

  test("an endless one", async () => {
    await expect(take(await tokenFile("a".repeat(privateFileLimit + 1)))).rejects.toThrow(UnsafeFileError);
  });

  test("a linked directory is judged by where it leads", async () => {
    const file = await tokenFile(GIVEN);
    const elsewhere = await mkdtemp(join(tmpdir(), "gennai-link-"));
    onTestFinished(() => rm(elsewhere, { recursive: true, force: true }));
    await symlink(directory, join(elsewhere, "dir"));
    expect(await take(join(elsewhere, "dir", "token"))).toMatchObject({ token: GIVEN });
    await chmod(directory, 0o777);
    await expect(take(join(elsewhere, "dir", "token"))).rejects.toThrow(UnsafeFileError);
    expect(file).toContain(directory);
  });
});
