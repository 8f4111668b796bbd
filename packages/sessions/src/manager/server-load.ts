/** Current load of a server's sessions. */
export interface SessionsLoad {
  readonly sessionsOpen: number;
  /** Including turns about to begin. */
  readonly turnsRunning: number;
  /** Open client streams. */
  readonly subscribers: number;
  /** Events waiting to be logged. */
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
