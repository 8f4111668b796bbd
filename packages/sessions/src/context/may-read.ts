import { runPolicies } from "@gennai/governance/gate/decide/run-policies";
import { workspacePolicies } from "../policies/workspace-policies.ts";
import type { Session } from "../session/session.ts";

/** Milliseconds a rule may take. */
const timeoutMs = 5_000;

/** Whether the agent could read a file of the workspace without a question; `false` for anything else. Never rejects. */
export type MayRead = (path: string) => Promise<boolean>;

/**
 * What the server puts before the model by itself is held to the rules that hold for reading: those of the house, of the
 * project and of rule files. Throws `ServiceError` when the project's configuration cannot be read.
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
