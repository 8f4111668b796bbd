import type { NetworkUse, WatchedNetwork } from "@gennai/egress/network/watched-network";
import type { Connection } from "@gennai/governance/connection";
import type { CommandRun } from "@gennai/machine/process/run-command";
import type { SessionNetwork } from "@gennai/stage/mount/session-network";
import type { RunMount } from "@gennai/stage/staged-command";
import type { Stages } from "../stages/stages.ts";
import { believing } from "./believed-certificates.ts";
import type { StagedSurroundings } from "./run-staged.ts";

/** The network of one run, and what observes its connections. */
export interface RunWatch extends Disposable {
  /** Undefined: the run has its own network, which nothing observes. */
  readonly network: SessionNetwork | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly resolver: string | undefined;
  /** Further mounts: the certificates that the run is to trust, and settings with placeholders. */
  readonly mounts: readonly RunMount[];
  connections(run: Pick<CommandRun, "exitCode" | "output">): readonly Connection[];
  onlyLookedUp(): readonly string[];
  /** What was reached so far, and what there is a login for, is reached no more. */
  withdrawReached(): void;
  /** Whether this process itself listens on that port of the network's loopback. */
  listensOnLoopback(port: number): boolean;
}

/** Call it before a run. A run with allowed endpoints or logins gets a network in which nothing else runs. */
export async function watchRun(
  text: string,
  {
    stages,
    workspaceRoot,
    network,
    allowed = [],
    logins = [],
    ask,
    placeholders,
    lasts = false,
  }: {
    readonly stages: Pick<Stages, "openNetwork" | "resolver">;
    /** True if the run goes on beside others: what is seen while another run is under way counts as that run's. */
    readonly lasts?: boolean;
  } & Pick<StagedSurroundings, "workspaceRoot" | "network" | "allowed" | "logins" | "ask" | "placeholders">,
): Promise<RunWatch> {
  const own =
    allowed.length + logins.length === 0
      ? undefined
      : await stages.openNetwork(workspaceRoot, { allowed, logins, ask });
  const watched = own ?? network;
  const { environment: inPlace = {}, mounts = [], ports = [] } = placeholders ?? {};
  if (watched === undefined) return { ...unwatched, environment: inPlace, mounts };
  let use: NetworkUse;
  try {
    use = await watched.use([...namedPorts(text), ...ports], { lasts });
  } catch (error) {
    own?.[Symbol.dispose]();
    throw error;
  }
  const believed = believing(own?.authority, logins);
  return {
    network: watched.network,
    environment:
      own === undefined
        ? { ...watched.environment, ...inPlace }
        : {
            ...watched.environment,
            ...(placeholders?.packs === true ? {} : withoutScripts),
            ...(logins.length > 0 ? patient : {}),
            ...inPlace,
            ...believed.environment,
          },
    resolver: stages.resolver,
    mounts: [...mounts, ...believed.mounts],
    connections: (run) => [...use.connections(), ...refusedBySystem(run, watched)],
    onlyLookedUp: () => use.onlyLookedUp(),
    withdrawReached: () =>
      own?.withdraw([
        ...use.connections().filter(({ state }) => state === "allowed"),
        ...allowed.filter(({ login }) => login !== undefined),
      ]),
    listensOnLoopback: (port) => watched.listensOnLoopback(port),
    [Symbol.dispose]: () => {
      use[Symbol.dispose]();
      own?.[Symbol.dispose]();
    },
  };
}

/** Settings that keep package scripts from running: they run in a separate command without a network. */
const withoutScripts = {
  npm_config_ignore_scripts: "true",
  pnpm_config_ignore_scripts: "true",
  YARN_ENABLE_SCRIPTS: "false",
};

/** A request may wait until a person has answered. */
const patient = {
  npm_config_fetch_timeout: "0",
  pnpm_config_fetch_timeout: "86400000",
  YARN_HTTP_TIMEOUT: "86400000",
  CARGO_HTTP_TIMEOUT: "86400",
};

const unwatched: RunWatch = {
  network: undefined,
  environment: {},
  resolver: undefined,
  mounts: [],
  connections: () => [],
  onlyLookedUp: () => [],
  withdrawReached: () => undefined,
  listensOnLoopback: () => false,
  [Symbol.dispose]: () => undefined,
};

/** Ports written in a command's text: `localhost:5432`, `-p 5433`, `--port=8080`. */
export function namedPorts(text: string): readonly number[] {
  const ports = new Set<number>();
  for (const [, port] of text.matchAll(/(?::|--port[= ]|-p ?)(\d{2,5})(?!\d)/g)) {
    const number = Number(port);
    if (number > 0 && number < 65_536) ports.add(number);
  }
  return [...ports].slice(0, 20);
}

/**
 * Connections to services on the machine's loopback for which nothing listened in the network, according to the output of a
 * failed program. The output can claim anything: it only leads to a question to a person.
 */
function refusedBySystem(
  { exitCode, output }: Pick<CommandRun, "exitCode" | "output">,
  watched: WatchedNetwork,
): readonly Connection[] {
  if (exitCode === 0) return [];
  const claimed = new Set<number>();
  // Programs print address and refusal in either order, and wrap lines.
  for (const [, before, after] of output.matchAll(
    /refused[^]{0,80}?(?:127\.0\.0\.1|localhost|::1\]?)[: ](\d{2,5})|(?:127\.0\.0\.1|localhost|::1\]?)["')]*(?:[: ]|,? port )(\d{2,5})\b(?=[^]{0,160}(?:refused|couldn't connect))/gi,
  )) {
    claimed.add(Number(before ?? after));
  }
  const unseen = [...claimed].filter((port) => !watched.listensOnLoopback(port));
  return watched.served(new Set(unseen.slice(0, 20))).map((port) => {
    const reason = "Nobody allowed this connection.";
    return { host: "127.0.0.1", port, state: "refused", reason, count: 1, sent: 0, received: 0 };
  });
}
