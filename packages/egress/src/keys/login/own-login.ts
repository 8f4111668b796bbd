import { randomBytes } from "node:crypto";
import type { GitSettings } from "@gennai/git/run/git-settings";
import type { Endpoint } from "@gennai/governance/endpoint";
import type { AddedLogin } from "../../network/added-login.ts";

/** A login in the user's own settings, for one host and port that a command may reach. It has not been read yet. */
export interface OwnLogin {
  readonly endpoint: Endpoint;
  /** In words for people. Never the secret. */
  readonly login: string;
  /** Without it the command has nothing to do there, so that a person is asked about it at once. Otherwise when the host wants one. */
  readonly isNeeded: boolean;
  /** The command is known to go there: it is asked about with the first host that needs a login, so that it runs only once more. */
  readonly isCertain?: boolean;
  /** What the command will most likely send with it. */
  readonly expects?: ExpectedChange | undefined;
  /** What a person should know besides of a change that is asked about, as sentences. @param what in the words of the question */
  remark?(what: string, options: { readonly signal: AbortSignal }): Promise<string | undefined>;
  /** For a first run, in which nothing is sent: they show what the command would send, so that this stands in the question. */
  readonly rehearsals?: readonly AddedLogin[];
  /** What a run has in its place, also before anybody was asked. */
  readonly inRun: Placeholders;
  /** Reads it, after a yes. Rejects with `ToolFailure` (`no_key`). */
  open(options: { readonly signal: AbortSignal }): Promise<AddedLogin>;
}

/** A change that stands in the question about its host, so that no second question is needed. */
export interface ExpectedChange {
  /** For the person who is asked. */
  readonly what: string;
  /** Whether a yes to it is one to a request; each of its requests once. @param what the request says that it changes */
  covers(what: string): boolean;
}

/** One that is sent as requests of these forms, each once. */
export function changeBy(what: string, ...forms: readonly RegExp[]): ExpectedChange {
  const left = new Set(forms);
  return {
    what,
    covers: (other) => {
      const form = [...left].find((one) => one.test(other));
      return form !== undefined && left.delete(form);
    },
  };
}

export function exactly(...all: readonly string[]): ExpectedChange {
  return changeBy(all.join("; "), ...all.map((what) => new RegExp(`^${literal(what)}$`)));
}

export function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Where programs look for a login, with a random text in place of each secret. */
export interface Placeholders {
  readonly environment?: Readonly<Record<string, string>>;
  readonly git?: GitSettings;
  /** Lines for `~/.npmrc`. */
  readonly npmrc?: readonly string[];
}

/** A new random text. */
export function newPlaceholder(): string {
  return `placeholder-${randomBytes(16).toString("hex")}`;
}
