import type { PlanApproval } from "@gennai/governance/plan-change";
import { ServiceError } from "@gennai/machine/service-error";
import { beforeEach, describe, expect, test } from "vitest";
import { ApprovalTokens, isToken } from "#plans/approval-tokens";

const preview = {
  shownSha256: "s",
  head: "h",
  policySha256: "p",
  capabilitiesSha256: "c",
  emergencySha256: "e",
  intentSha256: "i",
};
const binding = {
  sessionId: "s",
  planId: "p",
  digest: "d",
  workspaceRoot: "/w",
  preview,
  by: "ann",
  channel: "authenticated",
} as const;
const tenMinutes = 600_000;
let now = { monotonic: 0, wall: 0, boot: "" };
let tokens: ApprovalTokens;

beforeEach(() => {
  now = { monotonic: 1_000, wall: 1_700_000_000_000, boot: "one" };
  tokens = anotherProcess();
});

/** Clocks are the machine's, so a process that starts later goes on where this one was. */
function anotherProcess(): ApprovalTokens {
  return new ApprovalTokens({
    monotonic: () => now.monotonic,
    wall: () => now.wall,
    get boot() {
      return now.boot;
    },
  });
}

function find(token: string, approval: PlanApproval | undefined, asked: object = binding, by = tokens): string {
  try {
    by.find(token, { ...binding, ...asked, approval });
    return "ok";
  } catch (error) {
    if (error instanceof ServiceError) return error.reason ?? "";
    throw error;
  }
}

describe("approval tokens", () => {
  test("hold 256 bits, and are kept as SHA-256 only", () => {
    const { token, approval } = tokens.issue(binding);
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(JSON.stringify(approval)).not.toContain(token);
    expect(isToken(token, approval.tokenSha256)).toBe(true);
    expect(isToken(`${token}=`, approval.tokenSha256)).toBe(false);
  });

  test.each([
    ["just before its end", tenMinutes - 1, tenMinutes - 1, "one", "ok"],
    ["after ten minutes", tenMinutes, tenMinutes, "one", "token_expired"],
    ["after ten minutes with the clock set back an hour", tenMinutes, -3_600_000, "one", "token_expired"],
    ["after a sleep that the monotonic clock does not count", 10, tenMinutes, "one", "token_expired"],
    ["with the clock set forward", 10, 3_600_000, "one", "token_expired"],
    ["after the machine started anew", 10, 10, "two", "token_expired"],
    ["with a monotonic clock that began anew", -900, 10, "one", "token_expired"],
  ])("%s", (_name, monotonic, wall, boot, wanted) => {
    const { token, approval } = tokens.issue(binding);
    now = { monotonic: now.monotonic + monotonic, wall: now.wall + wall, boot };
    expect(find(token, approval)).toBe(wanted);
    expect(find(token, approval, binding, anotherProcess())).toBe(wanted);
  });

  test.each([
    ["another session", { sessionId: "t" }, "token_bound_elsewhere"],
    ["another plan", { planId: "q" }, "token_bound_elsewhere"],
    ["an earlier version of the plan", { digest: "e" }, "digest_mismatch"],
  ])("are not good for %s", (_name, asked, wanted) => {
    const { token, approval } = tokens.issue(binding);
    expect(find(token, approval, asked)).toBe(wanted);
    expect(find(token, undefined, asked)).toBe(wanted === "digest_mismatch" ? "token_unknown" : wanted);
  });

  test("guessing ends the approval", () => {
    const { approval } = tokens.issue(binding);
    const tried = Array.from({ length: 5 }, (_, index) => find(`${index}`.repeat(43), approval));
    expect(tried).toEqual([...Array.from({ length: 4 }, () => "token_unknown"), "too_many_attempts"]);
  });
});
