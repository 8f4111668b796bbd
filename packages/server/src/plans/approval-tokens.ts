import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Approver } from "./plan-authority.ts";
import { planRefusal } from "./plan-refusal.ts";

/** What a token is good for. Anything else, and it is void. */
export interface ApprovalBinding {
  readonly sessionId: string;
  readonly planId: string;
  readonly digest: string;
  readonly workspaceRoot: string;
  /** Commit and branch, as text. */
  readonly head: string;
  readonly policySha256: string;
}

export interface Approval {
  readonly binding: ApprovalBinding;
  readonly by: Approver;
  readonly tokenSha256: string;
}

interface LiveApproval extends Approval {
  readonly hash: Buffer;
  /** On both clocks: one alone could be turned back, or stand still while the machine sleeps. */
  readonly expires: { readonly monotonic: number; readonly wall: number };
  wrongAttempts: number;
}

export interface TokenClock {
  /** Milliseconds, never turned back. */
  readonly monotonic: () => number;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
}

const lifetimeMs = 10 * 60_000;
const maxWrongAttempts = 5;

/**
 * Approvals that wait for their execution: one for each plan, kept in memory and as SHA-256 only. A restart voids them all,
 * so that no clock of another process counts. Spent tokens are remembered by the session's log.
 */
export class ApprovalTokens {
  readonly #live = new Map<string, LiveApproval>();
  readonly #clock: TokenClock;

  constructor(clock: TokenClock) {
    this.#clock = clock;
  }

  /** A new token; an earlier one for the same plan is void. */
  issue(binding: ApprovalBinding, by: Approver): { readonly token: string; readonly expiresAt: number } {
    const token = randomBytes(32).toString("base64url");
    const hash = sha256(token);
    const expires = { monotonic: this.#clock.monotonic() + lifetimeMs, wall: this.#clock.wall() + lifetimeMs };
    this.#live.set(binding.planId, { binding, by, hash, tokenSha256: hash.toString("hex"), expires, wrongAttempts: 0 });
    return { token, expiresAt: expires.wall };
  }

  /** The approval this token stands for, still unspent. Throws `ServiceError` for any that is not exactly it. */
  find(token: string, asked: Pick<ApprovalBinding, "sessionId" | "planId" | "digest">): Approval {
    if (token === "") throw planRefusal("token_missing", "There is no approval token.", "Approve the plan first.");
    const hash = sha256(token);
    const approval = this.#live.get(asked.planId);
    if (approval === undefined || !timingSafeEqual(hash, approval.hash)) throw this.#wrong(hash, approval);
    const { binding, expires } = approval;
    if (this.#clock.monotonic() >= expires.monotonic || this.#clock.wall() >= expires.wall) {
      this.#live.delete(asked.planId);
      throw planRefusal("token_expired", "The approval has expired.", "Approve the plan again.");
    }
    if (binding.sessionId !== asked.sessionId) {
      throw planRefusal("token_bound_elsewhere", "The approval token belongs to another session.");
    }
    if (binding.digest !== asked.digest) {
      throw planRefusal("digest_mismatch", "The approval token belongs to another version of the plan.");
    }
    return approval;
  }

  /** Takes the approval out of the world; the second one to try is refused. */
  spend(approval: Approval): void {
    const { planId } = approval.binding;
    if (this.#live.get(planId) !== approval) {
      throw planRefusal("token_spent", "The approval token was spent already.", "Approve the plan again.");
    }
    this.#live.delete(planId);
  }

  void(planId: string): void {
    this.#live.delete(planId);
  }

  #wrong(hash: Buffer, approval: LiveApproval | undefined): Error {
    for (const other of this.#live.values()) {
      if (timingSafeEqual(hash, other.hash)) {
        return planRefusal("token_bound_elsewhere", "The approval token belongs to another plan or session.");
      }
    }
    if (approval !== undefined) {
      approval.wrongAttempts += 1;
      if (approval.wrongAttempts >= maxWrongAttempts) {
        this.#live.delete(approval.binding.planId);
        return planRefusal(
          "too_many_attempts",
          "Too many wrong approval tokens: the approval is void.",
          "Approve the plan again.",
        );
      }
    }
    return planRefusal("token_unknown", "This is no approval token of this plan.", "Approve the plan again.");
  }
}

/** True when this token is the one with that SHA-256 (hex). */
export function isToken(token: string, tokenSha256: string | undefined): boolean {
  return tokenSha256 !== undefined && timingSafeEqual(sha256(token), Buffer.from(tokenSha256, "hex"));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
