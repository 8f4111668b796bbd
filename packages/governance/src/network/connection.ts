import type { Endpoint } from "./endpoint.ts";

/** An endpoint that a person let a command reach. */
export interface AllowedEndpoint extends Endpoint {
  /** The person was told that the name leads to this address of the machine's own networks, and nowhere else. */
  readonly address?: string;
  /** In words for people, the login of the user's that is added there, outside of the command. */
  readonly login?: string;
  /** Whose yes it was, for the record. */
  readonly answer?: string;
}

/** What happened to a command's connections to one endpoint; those that ended in the same way are counted together. */
export interface Connection extends Endpoint {
  /** `failed`: it was let through, and the other side could not be reached. */
  readonly state: "allowed" | "refused" | "failed";
  /** That was connected to, or that the name leads to and must not be connected to. */
  readonly address?: string;
  /** Why it was refused, or failed. */
  readonly reason?: string;
  /** Whose yes let it through. */
  readonly answer?: string;
  /** The login of the user's that was used there, in words for people; the command did not see it. */
  readonly login?: string;
  /** How many there were. */
  readonly count: number;
  /** Bytes from the command. */
  readonly sent: number;
  /** Bytes to the command. */
  readonly received: number;
}
