import { type AttemptsWish, SessionAttempts } from "@gennai/client/attempts";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { type Attempt, type AttemptSet, mostAttempts } from "@gennai/protocol/model/session/attempt";
import { findDecidingCommand } from "@gennai/sessions/context/detect-check";
import { attemptsDesk, attemptsServer } from "../../attempts/attempts-desk.ts";
import { describeAttempts } from "../../attempts/describe-attempts.ts";
import { type AttemptsDesk, deskOf, followAttempt } from "../../attempts/follow-attempt.ts";
import { takeAttempt } from "../../attempts/take-attempt.ts";
import type { ChosenServer } from "../../connection/server-choice.ts";
import type { OfferContext } from "../../review/offered-changes.ts";
import { allowedAhead } from "../../review/persons-network-here.ts";
import { usageError } from "../../terminal/cli-error.ts";
import { type Console, commandName } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import type { Interrupts } from "../../terminal/interrupts.ts";
import { jsonLine, terminalSafe } from "../../terminal/terminal-safe.ts";
import { untilEnded } from "../../terminal/until-ended.ts";
import { parseCount } from "../options/option-values.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { type RunFlags, sessionSettings } from "./run-options.ts";

/** `gennai run --attempts N`: one request, several times, each on a copy of its own; the best of them is offered. */
export function runAttempts(request: string | undefined, flags: RunFlags, console: Console): Promise<number> {
  const left = "Ended; nothing of the attempts is left, the workspace is as before.";
  return untilEnded(console, left, (place) => attempted(request, flags, { console, ...place }));
}

type AttemptContext = OfferContext & { readonly interrupts: Interrupts };

async function attempted(request: string | undefined, flags: RunFlags, place: AttemptContext): Promise<number> {
  const { console, signal } = place;
  if (request === undefined || request.trim() === "")
    throw usageError("--attempts needs a request.", 'For example: gennai run --attempts 3 "fix the failing test"');
  refuseOthers(flags);
  const { allow = [] } = allowedAhead(flags.allow);
  const count = parseCount(flags.attempts, "--attempts", mostAttempts) ?? 1;
  if (count < 2) throw usageError("--attempts takes a whole number from 2 to 8.", "Once is: gennai run, without it.");
  const parallel = parseCount(flags.parallel, "--parallel", mostAttempts);
  const settings = sessionSettings(flags);
  const workspace = await resolveWorkspace(flags.workspace, console);
  const check = await decidingCheck(workspace, flags);
  const all = { ...(await attemptsDesk(flags, { workspace, place })), allow };
  await using server = await attemptsServer(all, signal, { settings, protectedBranches: flags.protect ?? [] });
  const { terminal } = deskOf(all, "");
  using _desk = terminal;
  // If only the attempts have models, the session that starts them takes the first attempt's.
  const model = settings.model ?? flags.attemptModel?.[0];
  const chosen = { ...settings, ...(model === undefined ? {} : { model }), workingDir: workspace };
  const session = await terminal.openSession(server, { settings: chosen, signal });
  const made = await madeAttempts(server, session, all, {
    signal,
    wish: {
      text: request,
      scenario: flags.scenario ?? "",
      enableThinking: flags.thinking !== false,
      count,
      ...(parallel === undefined ? {} : { parallel }),
      check,
      models: flags.attemptModel ?? [],
      allow: flags.allow ?? [],
    },
  });
  // Awaited here: what this function holds must outlive it.
  return await offerBest({ made, session, flags, place });
}

/** Makes the attempts, and shows each as it works. If the signal ends this, it drops them all before it rejects. */
async function madeAttempts(
  { client }: ChosenServer,
  session: AgentSession,
  all: AttemptsDesk,
  { wish, signal }: { readonly wish: Omit<AttemptsWish, "id">; readonly signal: AbortSignal },
): Promise<AttemptSet> {
  const attempts = new SessionAttempts(client, session.sessionId);
  const { id } = await attempts.start({ ...wish, id: crypto.randomUUID() }, { signal });
  try {
    const onBegun = (attempt: Attempt) => followAttempt(client, attempt, all, signal);
    return await watchAttempts(session, { attempts, id, onBegun, signal });
  } catch (error) {
    if (signal.aborted) await attempts.drop(id, { signal: new AbortController().signal });
    throw error;
  }
}

function refuseOthers(flags: RunFlags): void {
  const {
    session,
    resume,
    continue: newest,
    worktree,
    branch,
    localFiles,
    intent,
    image,
    server,
    mode,
    output,
    outputSchema,
  } = flags;
  const own = { session, resume, continue: newest, worktree, branch, intent, image, output };
  const options = { ...own, "local-files": localFiles, "output-schema": outputSchema };
  const [other] = Object.entries(options).find(([, value]) => value !== undefined && value !== false) ?? [];
  if (other !== undefined) throw usageError(`--${other} is not for attempts.`, "Leave one of them out.");
  if (mode === "plan") throw usageError("A plan is not tried.", "Leave --mode plan or --attempts out.");
  if (server !== "auto" && server !== "own")
    throw usageError("Attempts run on a server of this command.", "Leave --server out.");
}

async function decidingCheck(workspace: string, flags: RunFlags): Promise<string> {
  const found = await findDecidingCommand(workspace, flags.check ?? "");
  if (found !== undefined) return found;
  throw usageError(
    "No check is configured that could decide between attempts.",
    "Name one: --check 'npm test', or `check` in .gennai/config.yaml.",
  );
}

async function offerBest({
  made,
  session,
  flags,
  place,
}: {
  readonly made: AttemptSet;
  readonly session: AgentSession;
  readonly flags: RunFlags;
  readonly place: OfferContext;
}): Promise<number> {
  const { console } = place;
  const best = made.suggested;
  const json = flags.json === true;
  if (!json) console.output.write(`\n${describeAttempts(made)}\n`);
  const request = { session, attemptsId: made.id, number: best ?? 0 };
  const offered = best === undefined ? undefined : await takeAttempt(request, flags, place);
  if (json) console.output.write(`${jsonLine({ result: { ...made, best, kept: offered?.taken ?? [] } })}\n`);
  else if (offered === undefined)
    console.output.write(
      `No attempt changed anything that can be kept: ${terminalSafe(made.attempts[0]?.text ?? "")}\n`,
    );
  else {
    const name = commandName(console.environment);
    console.output.write(`Look at the others: ${name} attempts show N, and ${name} attempts take N\n`);
  }
  if (offered === undefined) return exitCode.failed;
  return offered.unasked ? exitCode.refused : exitCode.ok;
}

/**
 * Follows attempts until all have ended, with the events of their session.
 * @param onBegun called once for each attempt that has a session; the watch ends when the returned promises have settled too
 */
async function watchAttempts(
  session: AgentSession,
  {
    attempts,
    id,
    onBegun,
    signal,
  }: {
    readonly attempts: SessionAttempts;
    readonly id: string;
    readonly onBegun: (attempt: Attempt) => Promise<void>;
    readonly signal: AbortSignal;
  },
): Promise<AttemptSet> {
  const begun = new Map<number, Promise<void>>();
  const look = async (): Promise<AttemptSet> => {
    const set = (await attempts.list({ signal })).find((one) => one.id === id);
    if (set === undefined) throw new Error("The attempts are gone.");
    for (const attempt of set.attempts) {
      if (attempt.sessionId === "" || begun.has(attempt.number)) continue;
      const following = onBegun(attempt);
      following.catch(() => undefined);
      begun.set(attempt.number, following);
    }
    return set;
  };
  let set = await look();
  if (set.isRunning) {
    for await (const { event } of session.follow({ afterSeq: session.lastSeq, signal, maxAttempts: 20 })) {
      // Events of before may have come with the stream, and what they told about is known: the first word is enough to look once.
      if (event.case !== "attemptsChanged" && event.case !== "heartbeat") continue;
      set = await look();
      if (!set.isRunning) break;
    }
  }
  await Promise.all(begun.values());
  return set;
}
