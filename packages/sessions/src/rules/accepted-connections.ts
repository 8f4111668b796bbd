import { sameEndpoint } from "@gennai/governance/endpoint";
import type { LastingConnections, StandingConnection } from "@gennai/governance/gate/confirm/lasting-connections";
import * as z from "zod";
import { WorkspaceAnswers } from "./workspace-answers.ts";

const acceptedSchema = z.object({
  /** Including its verb, e.g. `npm install`. */
  program: z.string(),
  host: z.string(),
  port: z.int().min(1).max(65_535),
  /** For a private network: the address that the user was shown for the name. */
  address: z.string().optional(),
  /** Id of the call that was asked about; empty if allowed in advance. */
  callId: z.string(),
  /** ISO 8601. */
  acceptedAt: z.string(),
});
export type AcceptedConnection = Readonly<z.infer<typeof acceptedSchema>>;

/** What programs may reach in all sessions of one workspace, because a user allowed it. */
export class AcceptedConnections extends WorkspaceAnswers<AcceptedConnection> implements LastingConnections {
  constructor(stateDir: string, workspaceRoot: string) {
    super(stateDir, workspaceRoot, { name: "accepted-connections", entry: acceptedSchema });
  }

  async find(program: string): Promise<readonly StandingConnection[]> {
    return (await this.list())
      .filter((one) => one.program === program)
      .map(({ host, port, address, callId }) =>
        address === undefined ? { host, port, callId } : { host, port, callId, address },
      );
  }

  async remember(program: string, connections: readonly StandingConnection[]): Promise<void> {
    const acceptedAt = new Date().toISOString();
    const added = connections.map(({ host, port, address, callId }): AcceptedConnection => {
      const one = { program, host, port, callId, acceptedAt };
      return address === undefined ? one : Object.assign(one, { address });
    });
    await this.change((known) => [
      ...known.filter((one) => !added.some((other) => other.program === one.program && sameEndpoint(one, other))),
      ...added,
    ]);
  }
}
