/** How much the sessions of a server have to do at the moment. */
export interface SessionsLoad {
  readonly sessionsOpen: number;
  /** And those about to begin. */
  readonly turnsRunning: number;
  /** Streams of clients. */
  readonly subscribers: number;
  /** Events that wait for the log. */
  readonly eventsQueued: number;
  /** Questions and other requests that clients have not answered yet. */
  readonly requestsOpen: number;
  /** Commands that run in the background. */
  readonly backgroundRuns: number;
}

export interface ServerLoad extends SessionsLoad {
  /** Whether the server takes new turns. */
  readonly ready: boolean;
}
