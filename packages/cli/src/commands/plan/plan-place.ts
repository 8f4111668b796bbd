import { Code, ConnectError } from "@connectrpc/connect";
import { SessionPlans } from "@gennai/client/plan";
import type { AgentSession } from "@gennai/client/session";
import { defaultStateDir } from "@gennai/server/store/state-directory";
import { AgentDesk } from "../../client/agent-desk.ts";
import { type ChosenServer, chooseServer, type ServerFlags, serverRequest } from "../../connection/server-choice.ts";
import type { Console } from "../../terminal/console.ts";
import { Interrupts } from "../../terminal/interrupts.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { usageError } from "../run/run-options.ts";
import { listSessions } from "../sessions/sessions-commands.ts";
import { PlanTokenFiles } from "./plan-token-files.ts";

export interface PlanFlags extends ServerFlags {
  readonly workspace?: string;
  readonly session?: string;
  readonly json?: boolean;
  readonly backend?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly branch?: string;
  readonly protect?: readonly string[];
  readonly digest?: string;
  readonly token?: string;
  readonly yes?: boolean;
  readonly ask?: boolean;
}

/** Where a plan command works. Disposing ends a server of our own. */
export interface PlanPlace extends AsyncDisposable {
  readonly workspace: string;
  readonly server: ChosenServer;
  readonly desk: AgentDesk;
  readonly interrupts: Interrupts;
  readonly tokens: PlanTokenFiles;
  readonly signal: AbortSignal;
}

/** What it takes to have a plan written and approved. */
export type PlanDesk = Pick<PlanPlace, "server" | "desk" | "interrupts" | "signal">;

/** Sessions looked through for a plan whose session is not named. */
const searchedSessions = 25;

export async function openPlanPlace(
  flags: PlanFlags,
  console: Console,
  request: {
    readonly model?: Parameters<typeof chooseServer>[0]["model"];
    readonly sandbox?: Parameters<typeof chooseServer>[0]["sandbox"];
  } = {},
): Promise<PlanPlace> {
  const workspace = await resolveWorkspace(flags.workspace, console);
  const stateDir = defaultStateDir(console.environment);
  const ending = new AbortController();
  await using parts = new AsyncDisposableStack();
  const interrupts = parts.use(new Interrupts());
  const desk = parts.use(
    new AgentDesk({
      ...{ console, interrupts, workspace, stateDir },
      yes: flags.yes === true,
      ask: flags.ask === true,
      json: flags.json === true,
      promptsForRequests: false,
    }),
  );
  const server = parts.use(
    await chooseServer(
      {
        ...serverRequest(flags, { workspace, stateDir, signal: ending.signal }),
        protectedBranches: flags.protect ?? [],
        ...request,
      },
      console,
    ),
  );
  parts.defer(() => ending.abort());
  const owned = parts.move();
  return {
    ...{ workspace, server, desk, interrupts, signal: ending.signal },
    tokens: new PlanTokenFiles(stateDir),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The plans of the session that has this one: the named session, the one it was approved in, or the newest that knows it. */
export async function plansWith(planId: string, flags: PlanFlags, place: PlanPlace): Promise<SessionPlans> {
  const { server, signal, tokens, workspace } = place;
  const named = flags.session ?? (await tokens.find(planId))?.sessionId;
  if (named !== undefined) return new SessionPlans(server.plans, named);
  const sessions = await listSessions(server.client, workspace, { signal });
  for (const { sessionId } of sessions.slice(0, searchedSessions)) {
    const plans = new SessionPlans(server.plans, sessionId);
    try {
      await plans.get(planId, { signal });
      return plans;
    } catch (error) {
      if (!(error instanceof ConnectError) || error.code !== Code.NotFound) throw error;
    }
  }
  throw usageError(
    `No session of ${workspace} has a plan ${JSON.stringify(planId)}.`,
    "`gennai plan status` lists the plans; name an older session with --session.",
  );
}

/** Does something with the session while this desk watches it and answers what the server asks. */
export async function whileAttended<Result>(
  session: AgentSession,
  place: Pick<PlanPlace, "desk" | "interrupts" | "signal">,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { desk, interrupts } = place;
  const leaving = new AbortController();
  using _listening = interrupts.listen(() => {
    desk.view.note("Stopping … (Ctrl-C again leaves at once)");
    session.stop("session", "Stopped by the user at the terminal.", { signal: place.signal }).then(
      () => desk.view.note("Stopped."),
      (error: unknown) =>
        desk.view.note(`It could not be stopped: ${error instanceof Error ? error.message : String(error)}`),
    );
  });
  const attached = Promise.withResolvers<void>();
  const watching = (async () => {
    try {
      const events = session.follow({
        afterSeq: session.lastSeq,
        signal: AbortSignal.any([place.signal, leaving.signal]),
        onConnection: ({ state }) => {
          if (state === "connected") attached.resolve();
        },
        onProblem: ({ error }) =>
          desk.view.note(`An answer was not taken: ${error instanceof Error ? error.message : String(error)}`),
      });
      for await (const event of events) desk.view.show(event);
    } catch (error) {
      if (!leaving.signal.aborted)
        desk.view.note(`The session could not be watched: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      attached.resolve();
    }
  })();
  try {
    // Whoever shall be asked must be there before the first question.
    await attached.promise;
    return await work(place.signal);
  } finally {
    leaving.abort();
    await watching;
  }
}
