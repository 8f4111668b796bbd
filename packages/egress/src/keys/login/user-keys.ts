import type { AllowedEndpoint } from "@gennai/governance/connection";
import type { RunMount } from "@gennai/stage/staged-command";

/** The user whose logins may be uncovered: the one who runs the server, if no other user shares it. */
export interface UserKeys {
  /** Real path. */
  readonly home: string;
  /** The server's environment, with which the user's agents and helpers are found. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A planned run with a user's ssh keys, before the user agreed. */
export interface KeyPlan {
  /** The place that is reached with the login: scheme, host and port, for people. */
  readonly url: string;
  /** The login, in words for people. Never the secret. */
  readonly login: string;
  /**
   * Code of the workspace that is part of the command: runs first, without network and login. If it fails, the rest does not run.
   * The run with the login sees nothing that it wrote.
   */
  readonly before?: { readonly text: string; readonly what: string };
  /** Notes for readers of the result. */
  readonly notes: readonly string[];
  /** Call it after the user agreed. Rejects with `ToolFailure` (`no_key`). */
  uncover(): Promise<UncoveredKey>;
}

/** What one run gets for its login, until it is disposed. */
export interface UncoveredKey extends Disposable {
  /** Shell text that replaces the command: does the same without searching the workspace for anything. */
  readonly text: string;
  /** Shell text that runs afterwards, on the result, without network and login. */
  readonly scripts?: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Further mounts, by path in the run: a file or socket of the machine, or a text. */
  readonly mounts: readonly RunMount[];
  /** The only endpoints that the run reaches. */
  readonly hosts: readonly AllowedEndpoint[];
  /** For readers of the result, after the run. */
  notes(): readonly string[];
}
