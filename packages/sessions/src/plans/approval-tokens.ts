import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PlanApproval } from "@gennai/governance/plan-change";
import { planRefusal } from "./plan-refusal.ts";

/** What an approval covers. If anything differs, its token is void. */
export type ApprovedPlan = Omit<PlanApproval, "tokenSha256" | "expires">;

/** What a token is presented for, and the pending approval. */
export interface AskedApproval extends Pick<PlanApproval, "sessionId" | "planId" | "digest"> {
  /** Pending approval of that plan in that session, according to the log; undefined if there is none. */
  readonly approval: PlanApproval | undefined;
}

const lifetimeMs = 10 * 60_000;
const maxWrongAttempts = 5;
/** Tokens remembered only to distinguish one of another plan from an unknown one. */
const maxIssued = 1_000;

/**
 * Issues and checks approval tokens. The approvals are in the sessions' logs, so that they outlive this process, with only the
 * SHA-256 of their token; spent tokens are recorded there too.
 */
export class ApprovalTokens {
  readonly #clock: TokenClock;
  /** Plans by the SHA-256 of tokens issued by this process. */
  readonly #issued = new Map<string, string>();
  readonly #wrongAttempts = new Map<string, number>();

  constructor(clock: TokenClock) {
    this.#clock = clock;
  }

  /** A new token. Make the approval durable before you reveal the token. */
  issue(plan: ApprovedPlan): { readonly token: string; readonly approval: PlanApproval } {
    const { monotonic, wall, boot } = this.#clock;
    const token = randomBytes(32).toString("base64url");
    const tokenSha256 = sha256(token).toString("hex");
    for (const oldest of this.#issued.keys()) {
      if (this.#issued.size < maxIssued) break;
      this.#issued.delete(oldest);
    }
    this.#issued.set(tokenSha256, planOf(plan));
    return {
      token,
      approval: {
        ...plan,
        tokenSha256,
        expires: { wall: wall() + lifetimeMs, monotonic: monotonic() + lifetimeMs, boot },
      },
    };
  }

  /** The approval that matches this token. Throws `ServiceError` for any token that does not match exactly. */
  find(token: string, asked: AskedApproval): PlanApproval {
    if (token === "") throw planRefusal("token_missing", "There is no approval token.", "Approve the plan first.");
    const { approval } = asked;
    if (approval === undefined || !isToken(token, approval.tokenSha256)) throw this.#wrong(token, asked);
    if (approval.sessionId !== asked.sessionId || approval.planId !== asked.planId) {
      throw planRefusal("token_bound_elsewhere", "The approval token belongs to another session.");
    }
    if (approval.digest !== asked.digest) {
      throw planRefusal("digest_mismatch", "The approval token belongs to another version of the plan.");
    }
    if (!this.#isFresh(approval)) {
      throw planRefusal("token_expired", "The approval has expired.", "Approve the plan again.");
    }
    return approval;
  }

  /** Neither clock may be past the expiry or before the approval, and the machine must not have restarted. */
  #isFresh({ expires }: PlanApproval): boolean {
    const { monotonic, wall, boot } = this.#clock;
    const left = expires.monotonic - monotonic();
    return boot === expires.boot && left > 0 && left <= lifetimeMs && wall() < expires.wall;
  }

  #wrong(token: string, asked: AskedApproval): Error {
    const { approval } = asked;
    const issuedFor = this.#issued.get(sha256(token).toString("hex"));
    if (issuedFor !== undefined && issuedFor !== planOf(asked)) {
      return planRefusal("token_bound_elsewhere", "The approval token belongs to another plan or session.");
    }
    if (approval !== undefined) {
      const attempts = (this.#wrongAttempts.get(approval.tokenSha256) ?? 0) + 1;
      this.#wrongAttempts.set(approval.tokenSha256, attempts);
      if (attempts >= maxWrongAttempts) {
        this.#wrongAttempts.delete(approval.tokenSha256);
        return planRefusal(
          "too_many_attempts",
          "Too many wrong approval tokens: the approval is void.",
          "Approve the plan again.",
        );
      }
    }
    return planRefusal("token_unknown", "This is not an approval token of this plan.", "Approve the plan again.");
  }
}

/** True if this token has that SHA-256 (hex). */
export function isToken(token: string, tokenSha256: string | undefined): boolean {
  return tokenSha256 !== undefined && timingSafeEqual(sha256(token), Buffer.from(tokenSha256, "hex"));
}

function planOf({ sessionId, planId }: Pick<PlanApproval, "sessionId" | "planId">): string {
  return `${sessionId} ${planId}`;
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Clocks for the age of a token, shared by all processes of this machine. */
interface TokenClock {
  /** Milliseconds since the machine started; never goes backwards. */
  readonly monotonic: () => number;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
  /** Identifies the boot of the machine from which `monotonic` counts. */
  readonly boot: string;
}

/** Clocks that all processes since this boot agree on. */
export function machineClock(wall: () => number): TokenClock {
  return { monotonic: () => Number(process.hrtime.bigint() / 1_000_000n), wall, boot: bootOfMachine() };
}

/** Empty if the system does not say: then a restart shows only in the reset monotonic clock. */
function bootOfMachine(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
