import type { Endpoint } from "./endpoint.ts";

/** Whose connections a yes is for. */
export interface RunProgram {
  /** Program and verb, e.g. `npm install`; of a command that is more than one program with plain words, its text. */
  readonly name: string;
  /** A yes may hold for longer than one run: all that the program does there is what its verb says. */
  readonly lasting: boolean;
}

/** An endpoint that a person let a command reach. */
export interface AllowedEndpoint extends Endpoint {
  /** The user was told that the name leads to this address in the machine's own networks, and only there. */
  readonly address?: string;
  /** The user's login that is added there, outside the command, in words. */
  readonly login?: string;
  /** What one request with that login changes there, in words; it is let through once. */
  readonly sends?: string;
  /** What the person who is asked about that should know besides, as sentences. */
  readonly remark?: string;
  /** Whose yes it was, for the record. */
  readonly answer?: string;
}

/** A login of the user went there. */
export function usedLogin({ login, state }: Connection): boolean {
  return login !== undefined && state === "allowed";
}

/** The result of a command's connections to one endpoint; equal results are counted together. */
export interface Connection extends Endpoint {
  /** `failed`: it was let through, and the other side could not be reached. */
  readonly state: "allowed" | "refused" | "failed";
  /** Address of the connection, or the one that the name leads to but that is forbidden. */
  readonly address?: string;
  /** Why it was refused, or failed. */
  readonly reason?: string;
  /** Whose yes let it through. */
  readonly answer?: string;
  /** The user's login that was used there, in words; the command did not see it. */
  readonly login?: string;
  /** How many there were. */
  readonly count: number;
  /** Bytes from the command. */
  readonly sent: number;
  /** Bytes to the command. */
  readonly received: number;
}
