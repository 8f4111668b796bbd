import type { Limits } from "@gennai/governance/limits/limits";
import { loadPeople, type People } from "@gennai/machine/config/people-file";
import type { ServerLog } from "@gennai/machine/server-log";
import { errorMessage } from "@gennai/protocol/error-message";
import type { ServerOptions } from "../tenants/server-options.ts";
import { AskedElsewhere } from "./asked-elsewhere.ts";
import { PersonPins } from "./person-pins.ts";

/** Those who are asked at no client. */
export interface OpenedElsewhere {
  readonly asked: AskedElsewhere;
  /** Values of Host under which they reach the server. */
  readonly hosts: readonly string[];
}

/** Undefined where nobody is to be asked, and where that cannot be: the log says why. Never rejects. */
export async function openElsewhere(
  place: {
    readonly options: Pick<ServerOptions, "users" | "address" | "token">;
    readonly configDir: string;
    readonly stateDir: string;
    readonly scheme: "http" | "https";
    readonly log: ServerLog;
  },
  limits: () => Promise<Limits>,
): Promise<OpenedElsewhere | undefined> {
  const { options, configDir, stateDir, scheme, log } = place;
  // Nobody reaches such a server by a link.
  if (options.address.type === "in-process") return undefined;
  try {
    const people = await loadPeople(configDir);
    if (people === undefined) return undefined;
    const problem = problemOf(people, options, scheme);
    if (problem !== undefined) {
      log.warn(`Nobody is asked elsewhere: ${problem}`);
      return undefined;
    }
    const pins = new PersonPins(stateDir);
    for (const name of Object.keys(people.people)) {
      if (!(await pins.has(name)))
        log.warn(`${name} has no PIN, so messages have no link; make one in a terminal (people pin)`);
    }
    const hosts = people.url === undefined ? [] : [new URL(people.url).host];
    return { asked: new AskedElsewhere({ people, pins, limits, log }), hosts };
  } catch (error) {
    log.warn(`Nobody is asked elsewhere: ${errorMessage(error)}`);
    return undefined;
  }
}

function problemOf(
  { url }: People,
  { users, token }: Pick<ServerOptions, "users" | "token">,
  scheme: "http" | "https",
): string | undefined {
  if (users !== undefined) return "people.yaml is for a server of one user";
  if (token === undefined) return "the server runs with --no-auth";
  if (url !== undefined && new URL(url).protocol !== `${scheme}:`) {
    return scheme === "http"
      ? "url begins with https, and this server does not encrypt; start it with --behind-proxy or --tls-cert"
      : "url does not begin with https, as this server's address does";
  }
  return undefined;
}
