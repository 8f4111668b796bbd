import * as z from "zod";
import { WorkspaceAnswers } from "./workspace-answers.ts";

const acceptedSchema = z.object({
  command: z.string(),
  /** Where the command comes from, e.g. `package.json`. */
  source: z.string(),
  /** Digest of the exact action that was shown: the command and what it was known to run. */
  actionSha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** The rules whose question was answered. */
  rules: z.array(z.string()),
  callId: z.string(),
  /** ISO 8601. */
  acceptedAt: z.string(),
});
export type AcceptedCheck = Readonly<z.infer<typeof acceptedSchema>>;

/** The checks of one workspace that a user accepted for all its sessions. */
export class AcceptedChecks extends WorkspaceAnswers<AcceptedCheck> {
  constructor(stateDir: string, workspaceRoot: string) {
    super(stateDir, workspaceRoot, { name: "accepted-checks", entry: acceptedSchema });
  }

  async find(actionSha256: string): Promise<AcceptedCheck | undefined> {
    return (await this.list()).find((check) => check.actionSha256 === actionSha256);
  }

  /** Replaces an earlier acceptance of the same command. */
  async accept(check: Omit<AcceptedCheck, "acceptedAt">): Promise<void> {
    const acceptedAt = new Date().toISOString();
    await this.change((known) => [
      ...known.filter(({ command }) => command !== check.command),
      { ...check, acceptedAt },
    ]);
  }
}
