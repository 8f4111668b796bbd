/** How much of a server one user, one tenant and all of them together may take. */
export interface AdmissionLimits {
  /** Calls a second of one user; twice as many at once after a pause. */
  readonly callsPerSecond: number;
  /** Calls under way. A user's own limits hold only where there are many users. */
  readonly callsPerUser: number;
  readonly calls: number;
  /** Event streams that are open. */
  readonly streamsPerUser: number;
  readonly streams: number;
  /** Turns that run, those of plans and compactions included. */
  readonly turnsPerUser: number;
  readonly turnsPerTenant: number;
  readonly turns: number;
  /** Sessions in memory; others open again when they are asked for. */
  readonly sessionsPerUser: number;
  readonly sessions: number;
  /** Tenants that are open at once. */
  readonly tenants: number;
  /** Milliseconds for which a slow reader may read nothing. */
  readonly slowReaderMs: number;
  /** Milliseconds for which a turn waits in line, in all, for a working tree that another session writes to. */
  readonly treeWaitMs: number;
}

export const defaultLimits: AdmissionLimits = {
  callsPerSecond: 100,
  callsPerUser: 64,
  calls: 1_024,
  streamsPerUser: 32,
  streams: 1_024,
  turnsPerUser: 8,
  turnsPerTenant: 64,
  turns: 256,
  sessionsPerUser: 100,
  sessions: 2_000,
  tenants: 100,
  slowReaderMs: 60_000,
  treeWaitMs: 300_000,
};
