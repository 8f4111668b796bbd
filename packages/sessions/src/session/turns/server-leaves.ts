/** The abort reason of a turn if the server shuts down: as after a kill, a user can continue the turn. */
export class ServerLeaves extends DOMException {
  /** The questions open then, as text for users. */
  readonly waiting: readonly string[];

  constructor(waiting: readonly string[]) {
    super("The server is shutting down.", "AbortError");
    this.waiting = waiting;
  }
}
