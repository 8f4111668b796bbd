import type { AllowedEndpoint } from "@gennai/governance/network/connection";
import type { RunMount } from "../../stage/staged-command.ts";

/** Whose logins may be uncovered: of the user who runs the server, and only where no other user shares it. */
export interface UserKeys {
  /** Real path. */
  readonly home: string;
  /** The server's own, in which the user's agents and helpers are found. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A planned run with a user's login, before the user agreed. The login itself has not been read yet. */
export interface KeyPlan {
  /** What is reached with it: scheme, host and port, as people read it. */
  readonly url: string;
  /** The login, in words for people. Never the secret. */
  readonly login: string;
  /** What of the workspace would run beside it: run before, without network and login. Failing, it stops the rest. */
  readonly before?: { readonly text: string; readonly what: string };
  /** For anyone who reads the result. */
  readonly notes: readonly string[];
  /** After the yes. Rejects with `ToolFailure` (`no_key`) where there is no login after all. */
  uncover(options: { readonly signal: AbortSignal }): Promise<UncoveredKey>;
}

/** What one run is given. */
export interface UncoveredKey {
  /** For the shell, in place of the command: the same, with nothing left to be found in the workspace. */
  readonly text: string;
  /** For the shell: what runs behind it, on what it left, without network and login. */
  readonly scripts?: string;
  /** Absolute, as the run sees it; the command's own when undefined. */
  readonly cwd?: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What is there for this run, by its place in it: a file or socket of the machine, or a text. */
  readonly mounts: readonly RunMount[];
  /** The only places that it reaches. */
  readonly hosts: readonly AllowedEndpoint[];
  /** To be masked wherever they show. */
  readonly secrets: readonly string[];
}
