import { join } from "node:path";
import { ensurePrivateDirectory, findPrivateFile, removePrivateFile } from "@gennai/machine/private-file";
import { replaceFile } from "@gennai/machine/replace-file";
import * as z from "zod";

const schema = z.object({
  sessionId: z.string(),
  digest: z.string(),
  approvalToken: z.string(),
  /** Milliseconds since the epoch, as the server said; 0: it is not known. The server decides. */
  expires: z.number().default(0),
  /** The token that opened the run, once it has: it proves to `verify` which run is meant. */
  runToken: z.string().optional(),
});

/** What `gennai plan approve` keeps for `execute` and `verify`. */
export type KeptApproval = z.infer<typeof schema>;

/**
 * Approvals between commands: one file for each plan in the state directory, which only this user can read and no sandboxed
 * command sees. After the server has spent the token, the file approves nothing any more.
 */
export class PlanTokenFiles {
  readonly #directory: string;

  constructor(stateDir: string) {
    this.#directory = join(stateDir, "plan-approvals");
  }

  async keep(planId: string, approval: KeptApproval): Promise<void> {
    await ensurePrivateDirectory(this.#directory);
    await replaceFile(this.#file(planId), JSON.stringify(approval));
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

  /** True for the one caller that removed the file. */
  take(planId: string): Promise<boolean> {
    return removePrivateFile(this.#file(planId));
  }

  /** Servers choose the ids, which must not lead out of the directory. */
  #file(planId: string): string {
    return join(this.#directory, `${encodeURIComponent(planId).replaceAll(".", "%2E")}.json`);
  }
}
