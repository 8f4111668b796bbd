import { userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { connectGovernance } from "@gennai/client/connection/connection";
import { changesNothing, type GuardedHost, type HostAnswer, type HostEvent } from "@gennai/guard/hosts/guarded-host";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { realPath } from "@gennai/machine/host/way-to";
import { errorMessage } from "@gennai/protocol/error-message";
import { isWithin } from "@gennai/protocol/is-within";
import * as z from "zod";
import { provenServers } from "../../connection/proven-servers.ts";
import type { Console } from "../../terminal/console.ts";
import { installedHook } from "./guard-commands.ts";
import { isManaged } from "./hook-program.ts";

const anyPayload = z.record(z.string(), z.json());

/** Milliseconds for the server's answer: less than every host waits, since a host runs the call when its hook takes too long. */
const answerMs = 20_000;

/** Exit code that every host takes as a refusal before a call, whatever the hook printed. */
const blocked = 2;
/** Exit code of a failed hook. At the end of the agent's work, `blocked` would keep the agent from stopping. */
const failed = 1;

/** No server runs that could be asked. */
class NoServerError extends Error {
  override readonly name = "NoServerError";
}

/**
 * `gennai guard hook HOST`: the host starts it for each call. It passes the event on to the server and prints the answer. Without
 * a server, reads go on and calls that change things are refused; if a server gives no answer, every call is refused.
 */
export async function guardHookCommand(host: GuardedHost, console: Console): Promise<number> {
  let payload: z.infer<typeof anyPayload> = {};
  let event: HostEvent;
  try {
    payload = anyPayload.parse(JSON.parse(await text(console.input)));
    event = host.read(payload);
  } catch (error) {
    console.errors.write(`Gennai cannot read what ${host.title} told its hook: ${messageOf(error)}\n`);
    return host.isAfterCall(payload) ? failed : blocked;
  }
  try {
    const answer = await serverAnswer(host, payload, console);
    if (answer !== undefined) console.output.write(`${JSON.stringify(answer)}\n`);
  } catch (error) {
    if (error instanceof NoServerError && changesNothing(event)) return 0;
    if (event.type !== "before") {
      console.errors.write(`Gennai could not be told what ${host.title} did: ${messageOf(error)}\n`);
      return failed;
    }
    const managed = isManaged(console.environment);
    const isTakenAway =
      !managed &&
      error instanceof NoServerError &&
      (await installedHook(host.id, placeOf(host, console), console)) === undefined;
    const reason = isTakenAway ? takenAway : unreachable(host, error, managed);
    const refusal = host.answer({ type: "deny", reason }, event);
    console.output.write(`${JSON.stringify(refusal)}\n`);
  }
  return 0;
}

async function serverAnswer(
  host: GuardedHost,
  payload: z.infer<typeof anyPayload>,
  console: Console,
): Promise<HostAnswer | undefined> {
  const { environment } = console;
  const { workspace: workingDir } = placeOf(host, console);
  const signal = AbortSignal.timeout(answerMs);
  const stateDir = defaultStateDir(environment);
  if (isManaged(environment)) assertApart(stateDir, environment, [workingDir, console.directory]);
  const server = await serverFor(stateDir, workingDir, signal);
  const { url: baseUrl, token } = server;
  const { answer } = await connectGovernance({ baseUrl, token }).guardCall(
    { host: host.id, workingDir, payload: payload },
    { signal },
  );
  return answer;
}

function placeOf({ id }: GuardedHost, { environment, directory }: Console): { readonly workspace: string } {
  const project = id === "claude-code" ? environment["CLAUDE_PROJECT_DIR"] : undefined;
  return { workspace: environment["GENNAI_GUARD_PROJECT"] || project || directory };
}

/** Throws if a project can say which servers there are: its settings may set the environment. */
function assertApart(stateDir: string, { XDG_STATE_HOME: set }: NodeJS.ProcessEnv, projects: readonly string[]): void {
  const real = (path: string): string => realPath(path) ?? join(real(dirname(path)), basename(path));
  for (const project of projects.map(real)) {
    const isHome = !set && isWithin(real(userInfo().homedir), { directory: project });
    if (!isHome && isWithin(real(stateDir), { directory: project })) {
      throw new Error(`its state directory lies in the project; set XDG_STATE_HOME to another place`);
    }
  }
}

/** A server of the project, else any of this user's: whichever judges, the rules and the ledger are the project's. */
async function serverFor(stateDir: string, workspace: string, signal: AbortSignal) {
  for await (const server of provenServers(stateDir, { workspace }, { signal })) return server;
  for await (const server of provenServers(stateDir, {}, { signal })) return server;
  throw new NoServerError("no Gennai server runs");
}

const takenAway =
  "Gennai's guard is no longer installed for this agent, and no server runs to judge the call, so nothing is changed. " +
  "Tell the user: start the agent anew, or start `gennai serve`.";

function unreachable({ id }: GuardedHost, error: unknown, managed: boolean): string {
  return (
    `Gennai guards this agent and could not judge the call (${messageOf(error)}), so nothing is changed. ` +
    `Tell the user: start it with \`gennai serve\`. Or take the guard away, for its next session, with \`${managed ? "sudo " : ""}gennai guard uninstall ${id}${managed ? " --managed" : ""}\`.`
  );
}

function messageOf(error: unknown): string {
  return errorMessage(error).replaceAll(/\s+/g, " ").slice(0, 500);
}
