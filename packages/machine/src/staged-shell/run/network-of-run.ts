import type { Connection } from "@gennai/governance/network/connection";
import type { NetworkUse, WatchedNetwork } from "../../network/watched-network.ts";
import type { CommandRun } from "../../process/run-command.ts";
import type { SessionNetwork } from "../../stage/keeper/session-network.ts";
import type { RunMount } from "../../stage/staged-command.ts";
import type { Stages } from "../stages/stages.ts";
import { believing } from "./believed-certificates.ts";
import type { StagedSurroundings } from "./run-staged.ts";

/** The network of one run, and who sees what it wants there. */
export interface RunWatch extends Disposable {
  /** Undefined: one of its own, in which nobody watches. */
  readonly network: SessionNetwork | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly resolver: string | undefined;
  /** What the run finds besides: whom it is to believe. */
  readonly mounts: readonly RunMount[];
  connections(run: Pick<CommandRun, "exitCode" | "output">): readonly Connection[];
  onlyLookedUp(): readonly string[];
  /** Whether it is this process that listens at that port of the network's loopback. */
  listensOnLoopback(port: number): boolean;
}

/** Before a run. What a person let it reach is reached from a network in which nothing else runs. */
export async function watchRun(
  text: string,
  {
    stages,
    workspaceRoot,
    network,
    allowed = [],
    logins = [],
    lasts = false,
  }: {
    readonly stages: Pick<Stages, "openNetwork" | "resolver">;
    /** It runs beside others: what is seen while one of these runs is theirs. */
    readonly lasts?: boolean;
  } & Pick<StagedSurroundings, "workspaceRoot" | "network" | "allowed" | "logins">,
): Promise<RunWatch> {
  const own = allowed.length === 0 ? undefined : await stages.openNetwork(workspaceRoot, allowed, logins);
  const watched = own ?? network;
  if (watched === undefined) return unwatched;
  let use: NetworkUse;
  try {
    use = await watched.use(namedPorts(text), { lasts });
  } catch (error) {
    own?.[Symbol.dispose]();
    throw error;
  }
  const believed = believing(own?.authority, logins);
  const asked = Object.fromEntries(logins.flatMap(({ environment }) => Object.entries(environment)));
  return {
    network: watched.network,
    environment:
      own === undefined
        ? watched.environment
        : { ...watched.environment, ...withoutScripts, ...asked, ...believed.environment },
    resolver: stages.resolver,
    mounts: believed.mounts,
    connections: (run) => [...use.connections(), ...refusedBySystem(run, watched)],
    onlyLookedUp: () => use.onlyLookedUp(),
    listensOnLoopback: (port) => watched.listensOnLoopback(port),
    [Symbol.dispose]: () => {
      use[Symbol.dispose]();
      own?.[Symbol.dispose]();
    },
  };
}

/** What a package wants to run, it runs in a command without a network. */
const withoutScripts = {
  npm_config_ignore_scripts: "true",
  pnpm_config_ignore_scripts: "true",
  YARN_ENABLE_SCRIPTS: "false",
};

const unwatched: RunWatch = {
  network: undefined,
  environment: {},
  resolver: undefined,
  mounts: [],
  connections: () => [],
  onlyLookedUp: () => [],
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
 * Connections to a service on the machine's loopback that nobody listened for in the network, by what a program that failed
 * printed. It can claim what it likes: a person is asked about it, and no more.
 */
function refusedBySystem(
  { exitCode, output }: Pick<CommandRun, "exitCode" | "output">,
  watched: WatchedNetwork,
): readonly Connection[] {
  if (exitCode === 0) return [];
  const claimed = new Set<number>();
  // Programs say it in either order, and wrap their lines.
  for (const [, before, after] of output.matchAll(
    /refused[^]{0,80}?(?:127\.0\.0\.1|localhost|::1\]?)[: ](\d{2,5})|(?:127\.0\.0\.1|localhost|::1\]?)["')]*(?:[: ]|,? port )(\d{2,5})\b(?=[^]{0,160}(?:refused|couldn't connect))/gi,
  )) {
    claimed.add(Number(before ?? after));
  }
  const unseen = [...claimed].filter((port) => !watched.listensOnLoopback(port));
  return watched.served(new Set(unseen.slice(0, 20))).map((port) => {
    const reason = "Nobody let it through.";
    return { host: "127.0.0.1", port, state: "refused", reason, count: 1, sent: 0, received: 0 };
  });
}
