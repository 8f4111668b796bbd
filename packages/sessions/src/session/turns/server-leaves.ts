/** Why a turn stops that nobody stopped: its server ends, in order. As after a kill, a person can go on with it. */
export class ServerLeaves extends DOMException {
  /** What persons were asked then, as people read it. */
  readonly waiting: readonly string[];

  constructor(waiting: readonly string[]) {
    super("The server is shutting down.", "AbortError");
    this.waiting = waiting;
  }
}
