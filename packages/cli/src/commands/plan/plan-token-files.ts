import { join } from "node:path";
import { ensurePrivateDirectory, findPrivateFile, removePrivateFile } from "@gennai/machine/private-file";
import { replaceFile } from "@gennai/machine/replace-file";
import * as z from "zod";

const schema = z.strictObject({
  sessionId: z.string(),
  digest: z.string(),
  approvalToken: z.string(),
  /** Milliseconds; by both clocks, as one can be turned back, and the other starts again with the machine. */
  approved: z.strictObject({ monotonic: z.number(), wall: z.number() }),
  /** The token that opened the run, once it has: it proves to `verify` which run is meant. */
  runToken: z.string().optional(),
});

/** What `gennai plan approve` keeps for `execute` and `verify`. */
export type KeptApproval = z.infer<typeof schema>;

export interface ApprovalClock {
  /** Milliseconds since the machine started, the same for all processes. */
  readonly monotonic: () => number;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
}

/** How long an approval holds, in milliseconds; as long as for the server. */
const lifetimeMs = 10 * 60_000;

const machineClock: ApprovalClock = {
  monotonic: () => Number(process.hrtime.bigint() / 1_000_000n),
  wall: Date.now,
};

/**
 * Approvals between commands: one file for each plan in the state directory, which only this user can read and no sandboxed
 * command sees. After the server has spent the token, the file approves nothing any more.
 */
export class PlanTokenFiles {
  readonly #directory: string;
  readonly #clock: ApprovalClock;

  constructor(stateDir: string, clock: ApprovalClock = machineClock) {
    this.#directory = join(stateDir, "plan-approvals");
    this.#clock = clock;
  }

  async keep(planId: string, approval: Omit<KeptApproval, "approved">): Promise<void> {
    const approved = { monotonic: this.#clock.monotonic(), wall: this.#clock.wall() };
    await this.#write(planId, { ...approval, approved });
  }

  /** Undefined if there is none, or it is unreadable. Throws `UnsafeFileError` if others could have put it there. */
  async find(planId: string): Promise<KeptApproval | undefined> {
    try {
      const text = await findPrivateFile(this.#file(planId));
      return text === undefined ? undefined : schema.safeParse(JSON.parse(text)).data;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  /** False also for an approval from before the machine's last start. */
  isFresh({ approved }: KeptApproval): boolean {
    const [age, wallAge] = [this.#clock.monotonic() - approved.monotonic, this.#clock.wall() - approved.wall];
    return age >= 0 && age < lifetimeMs && wallAge < lifetimeMs;
  }

  expires({ approved }: KeptApproval): Date {
    return new Date(approved.wall + lifetimeMs);
  }

  /** True for the one caller that removed the file. */
  take(planId: string): Promise<boolean> {
    return removePrivateFile(this.#file(planId));
  }

  /** Keeps for `verify`, after the run has begun, a token that approves nothing more. */
  async keepSpent(planId: string, approval: KeptApproval & { readonly runToken: string }): Promise<void> {
    await this.#write(planId, approval);
  }

  async #write(planId: string, approval: KeptApproval): Promise<void> {
    await ensurePrivateDirectory(this.#directory);
    await replaceFile(this.#file(planId), JSON.stringify(approval));
  }

  /** Servers choose the ids, which must not lead out of the directory. */
  #file(planId: string): string {
    return join(this.#directory, `${encodeURIComponent(planId).replaceAll(".", "%2E")}.json`);
  }
}
