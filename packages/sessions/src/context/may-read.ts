import { runPolicies } from "@gennai/governance/gate/decide/run-policies";
import { workspacePolicies } from "../policies/call-policies.ts";
import type { Session } from "../session/session.ts";

/** Maximum milliseconds for a rule. */
const timeoutMs = 5_000;

/** Whether the agent may read a workspace file without a question; otherwise false. Never rejects. */
export type MayRead = (path: string) => Promise<boolean>;

/**
 * Text that the server adds on its own is subject to the reading rules: built-in, project and rule files. Throws `ServiceError`
 * if the project's configuration cannot be read.
 */
export async function createMayRead(
  session: Pick<Session, "id" | "workspace" | "services">,
  signal: AbortSignal = new AbortController().signal,
): Promise<MayRead> {
  const { workspace } = session;
  const policies = await workspacePolicies(session);
  return async (raw) => {
    try {
      const path = await workspace.resolve(raw);
      if (!path.inside) return false;
      const { verdict } = await runPolicies(
        policies,
        {
          callId: "",
          toolName: "Read",
          args: { file_path: raw },
          access: "read",
          sessionId: session.id,
          turnId: "",
          analysis: { statement: `Read ${path.relative}`, effects: [{ type: "read", path }] },
        },
        { timeoutMs, signal },
      );
      return verdict.type === "allow";
    } catch {
      return false;
    }
  };
}
