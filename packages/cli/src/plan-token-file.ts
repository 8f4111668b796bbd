import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateDirectory, isErrorCode, readPrivateFile, writePrivateFile } from "@gennai/server/http/private-file";
import * as z from "zod";

const schema = z.strictObject({ sessionId: z.string(), digest: z.string(), approvalToken: z.string() });

/** What `gennai plan approve` leaves for `execute` and `verify`. */
export type KeptApproval = z.infer<typeof schema>;

/**
 * Approval tokens between commands: one file a plan in the state directory, readable by this user alone. The token is spent
 * by the first execution; after it, the file only proves to `verify` which run is meant, and it goes with that.
 */
export class PlanTokenFiles {
  readonly #directory: string;

  constructor(stateDir: string) {
    this.#directory = join(stateDir, "plan-approvals");
  }

  async keep(planId: string, approval: KeptApproval): Promise<void> {
    await ensurePrivateDirectory(this.#directory);
    await writePrivateFile(this.#file(planId), JSON.stringify(approval));
  }

  /** undefined when there is none, or it cannot be read as one. Throws `UnsafeFileError` when others could have put it there. */
  async find(planId: string): Promise<KeptApproval | undefined> {
    try {
      const parsed = schema.safeParse(JSON.parse(await readPrivateFile(this.#file(planId))));
      return parsed.success ? parsed.data : undefined;
    } catch (error) {
      if (isErrorCode(error, "ENOENT") || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  async forget(planId: string): Promise<void> {
    await rm(this.#file(planId), { force: true });
  }

  /** Ids are the server's; another server's must not lead out of the directory. */
  #file(planId: string): string {
    return join(this.#directory, `${encodeURIComponent(planId).replaceAll(".", "%2E")}.json`);
  }
}
