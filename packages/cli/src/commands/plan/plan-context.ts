import { Code, ConnectError } from "@connectrpc/connect";
import { AgentSession } from "@gennai/client/session/agent-session";
import { listSessions } from "@gennai/client/session/session-list";
import { SessionPlans } from "@gennai/client/session-plans";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import { UserTerminal } from "../../client/user-terminal.ts";
import { type ChosenServer, type ServerFlags, type ServerRequest, turnServer } from "../../connection/server-choice.ts";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { Interrupts } from "../../terminal/interrupts.ts";
import type { ModelFlags } from "../options/option-values.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { PlanTokenFiles } from "./plan-token-files.ts";

export interface PlanFlags extends ServerFlags, ModelFlags {
  readonly workspace?: string;
  readonly session?: string;
  readonly json?: boolean;
  readonly branch?: string;
  readonly protect?: readonly string[];
  readonly digest?: string;
  readonly token?: string;
  readonly yes?: boolean;
  readonly ask?: boolean;
}

/** Where a plan command works. Disposing ends a server of our own. */
export interface PlanContext extends AsyncDisposable {
  readonly workspace: string;
  readonly server: ChosenServer;
  readonly terminal: UserTerminal;
  readonly interrupts: Interrupts;
  readonly tokens: PlanTokenFiles;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** What is needed to have a plan written and approved. */
export type PlanTerminal = Pick<PlanContext, "server" | "terminal" | "interrupts" | "signal">;

/** How many of the newest sessions are searched for a plan whose session is not named. */
const searchedSessions = 25;

/** @param request options for a server that this command starts itself */
export async function openPlanContext(
  flags: PlanFlags,
  console: Console,
  request: Partial<Pick<ServerRequest, "model" | "commands">> = {},
): Promise<PlanContext> {
  const workspace = await resolveWorkspace(flags.workspace, console);
  const stateDir = defaultStateDir(console.environment);
  const ending = new AbortController();
  await using parts = new AsyncDisposableStack();
  const interrupts = parts.use(new Interrupts());
  const terminal = parts.use(
    new UserTerminal({
      console,
      interrupts,
      workspace,
      stateDir,
      yes: flags.yes === true,
      ask: flags.ask === true,
      json: flags.json === true,
    }),
  );
  const server = parts.use(
    await turnServer(flags, { workspace, stateDir, signal: ending.signal, model: {}, ...request }, console),
  );
  parts.defer(() => ending.abort());
  const owned = parts.move();
  return {
    workspace,
    server,
    terminal,
    interrupts,
    environment: console.environment,
    signal: ending.signal,
    tokens: new PlanTokenFiles(stateDir),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A session for plans, given or new. Its questions are answered at the terminal that runs them. */
export async function openPlanSession(
  { terminal, server, signal }: PlanContext,
  settings: SettingsChoice,
  resume?: string,
): Promise<AgentSession> {
  if (resume !== undefined) return terminal.openSession(server, { resume, settings: {}, signal });
  return AgentSession.start(server.client, terminal.identity(), settings, { interactive: true, signal });
}

/** Plans of the named session, else of that of the approval, else of the newest that knows it. Throws `CliError` if none does. */
export async function plansWith(planId: string, flags: PlanFlags, place: PlanContext): Promise<SessionPlans> {
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
