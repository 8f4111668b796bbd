import type { AllowedEndpoint } from "../../connection.ts";

/** What programs may reach in every session of a workspace, stored on this machine. */
export interface LastingConnections {
  /** @param program with its verb, e.g. `npm install` */
  find(program: string): Promise<readonly StandingConnection[]>;
  remember(program: string, connections: readonly StandingConnection[]): Promise<void>;
}

export interface StandingConnection extends AllowedEndpoint {
  /** The call whose question was answered so. */
  readonly callId: string;
}
