import type { KeyPlan } from "../login/user-keys.ts";
import type { KeyContext } from "../plan-key.ts";

/** A program that reads from hosts, of which some want a login: git, and what fetches packages. */
export interface LoginReader {
  /** In what a run without the login printed: the host wants one. */
  readonly refused: RegExp;
  /**
   * The logins that the user has for what a command reads from; none of them is looked into. Empty for anything but a command of this
   * program's that is one of its own, written so plainly that nothing of it is left to be told. Rejects with `ToolFailure` where
   * nothing can be told.
   *
   * @param text for the shell
   */
  logins(text: string, place: KeyContext): Promise<readonly ReadLogin[]>;
}

export interface ReadLogin {
  /** With its port where that is not the usual one, as `URL` has it. */
  readonly host: string;
  /** Nothing can be read there without one, so that it need not be tried. */
  readonly always?: boolean;
  /** May reject with `ToolFailure` (`no_key`). */
  plan(): Promise<KeyPlan | undefined>;
}
