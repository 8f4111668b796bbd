import type { KeyPlan } from "../login/user-keys.ts";
import type { KeyContext } from "../plan-key.ts";

/** A program that reads from hosts, some of which want a login: git, and programs that fetch packages. */
export interface LoginReader {
  /** Matches the output of a run without login if the host wants one. */
  readonly refused: RegExp;
  /**
   * The user's logins for what a command reads from, without reading the logins themselves. Empty unless the text is a single
   * command of this program, whose meaning is completely known. Rejects with `ToolFailure` if it cannot be determined.
   *
   * @param text for the shell
   */
  logins(text: string, place: KeyContext): Promise<readonly ReadLogin[]>;
}

export interface ReadLogin {
  /** With its port if that is not the default, as in `URL`. */
  readonly host: string;
  /** True if nothing can be read there without a login, so that a try without one is useless. */
  readonly always?: boolean;
  /** May reject with `ToolFailure` (`no_key`). */
  plan(): Promise<KeyPlan | undefined>;
}
