import { ApprovalTokens, isToken } from "@gennai/server/plans/approval-tokens";
import { ServiceError } from "@gennai/server/service-error";
import { beforeEach, describe, expect, test } from "vitest";

const binding = { sessionId: "s", planId: "p", digest: "d", workspaceRoot: "/w", head: "h", policySha256: "x" };
const ann = { who: "ann", channel: "authenticated" } as const;
const tenMinutes = 600_000;
let now = { monotonic: 0, wall: 0 };
let tokens: ApprovalTokens;

beforeEach(() => {
  now = { monotonic: 1_000, wall: 1_700_000_000_000 };
  tokens = new ApprovalTokens({ monotonic: () => now.monotonic, wall: () => now.wall });
});

function find(token: string, asked = binding): string {
  try {
    tokens.find(token, asked);
    return "ok";
  } catch (error) {
    if (error instanceof ServiceError) return error.reason ?? "";
    throw error;
  }
}

describe("approval tokens", () => {
  test("hold 256 bits, and are kept as SHA-256 only", () => {
    const { token } = tokens.issue(binding, ann);
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const { tokenSha256 } = tokens.find(token, binding);
    expect(isToken(token, tokenSha256)).toBe(true);
    expect(isToken(`${token}=`, tokenSha256)).toBe(false);
  });

  test.each([
    ["just before its end", tenMinutes - 1, tenMinutes - 1, "ok"],
    ["after ten minutes", tenMinutes, tenMinutes, "token_expired"],
    ["after ten minutes with the clock set back an hour", tenMinutes, -3_600_000, "token_expired"],
    ["after a sleep that the monotonic clock does not count", 10, tenMinutes, "token_expired"],
    ["with the clock set forward", 10, 3_600_000, "token_expired"],
  ])("%s", (_name, monotonic, wall, wanted) => {
    const { token } = tokens.issue(binding, ann);
    now = { monotonic: now.monotonic + monotonic, wall: now.wall + wall };
    expect(find(token)).toBe(wanted);
  });

  test("are spent once", () => {
    const { token } = tokens.issue(binding, ann);
    const approval = tokens.find(token, binding);
    tokens.spend(approval);
    expect(() => tokens.spend(approval)).toThrow("spent already");
    expect(find(token)).toBe("token_unknown");
  });

  test.each([
    ["another session", { ...binding, sessionId: "t" }, "token_bound_elsewhere"],
    ["another plan", { ...binding, planId: "q" }, "token_bound_elsewhere"],
    ["an earlier version of the plan", { ...binding, digest: "e" }, "digest_mismatch"],
  ])("are not good for %s", (_name, asked, wanted) => {
    const { token } = tokens.issue(binding, ann);
    expect(find(token, asked)).toBe(wanted);
  });

  test("guessing ends the approval", () => {
    const { token } = tokens.issue(binding, ann);
    const tried = Array.from({ length: 6 }, (_, index) => find(`${index}`.repeat(43)));
    expect(tried).toEqual([...Array.from({ length: 4 }, () => "token_unknown"), "too_many_attempts", "token_unknown"]);
    expect(find(token)).toBe("token_unknown");
  });
});
