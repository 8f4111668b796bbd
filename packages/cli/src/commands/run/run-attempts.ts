import {
  type Attempt,
  type AttemptSet,
  type AttemptsWish,
  mostAttempts,
  SessionAttempts,
} from "@gennai/client/attempts";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { watchAttempts } from "@gennai/client/watch-attempts";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import { defaultStateDir, prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { isUsable } from "@gennai/sessions/attempts/best-first";
import { KeptAttempts } from "@gennai/sessions/attempts/kept-attempts";
import { findDecidingCommand } from "@gennai/sessions/context/detect-check";
import { describeAttempts } from "../../attempts/describe-attempts.ts";
import { type AttemptsDesk, deskOf, followAttempt } from "../../attempts/follow-attempt.ts";
import { offerAttempt } from "../../attempts/offer-attempt.ts";
import { proposeAttempt } from "../../attempts/propose-attempt.ts";
import { SharedPerson } from "../../attempts/shared-person.ts";
import { usageError } from "../../cli-error.ts";
import { type ChosenServer, chooseServer, serverRequest } from "../../connection/server-choice.ts";
import { exitCode } from "../../exit-code.ts";
import type { OfferContext } from "../../review/offered-changes.ts";
import { allowedAhead } from "../../review/persons-network-here.ts";
import { type Console, commandName, isTerminal } from "../../terminal/console.ts";
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
  const { console, interrupts, signal } = place;
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
  const stateDir = await prepareStateDirectory(defaultStateDir(console.environment));
  const { input, output, errors } = console;
  const json = flags.json === true;
  const all: AttemptsDesk = {
    console,
    interrupts,
    workspace,
    stateDir,
    yes: flags.yes === true,
    person: new SharedPerson(json ? errors : output, () => place.lines()),
    hasPerson: flags.ask === true || (isTerminal(input) && isTerminal(errors)),
    allow,
  };
  await using server = await chooseServer(
    {
      ...serverRequest({ server: "own" }, { workspace, stateDir, signal }),
      model: settings,
      protectedBranches: flags.protect ?? [],
      commands: "staged",
    },
    console,
  );
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
  return await offerBest({ made, session, all, flags, place });
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
  const { session, worktree, branch, localFiles, intent, image, server, mode } = flags;
  const options = { session, worktree, branch, intent, image, "local-files": localFiles };
  const [other] = Object.entries(options).find(([, value]) => value !== undefined && value !== false) ?? [];
  if (other !== undefined) throw usageError(`--${other} is not for attempts.`, "Leave one of them out.");
  if (mode === "plan") throw usageError("A plan is not tried.", "Leave --mode plan or --attempts out.");
  if (server !== "auto" && server !== "own")
    throw usageError("Attempts run on a server of this command.", "Leave --server out.");
}

async function decidingCheck(workspace: string, flags: RunFlags): Promise<string> {
  if (flags.check !== undefined && flags.check.trim() !== "") return flags.check;
  const { check } = await loadProjectConfig(workspace);
  const found = await findDecidingCommand(workspace, check);
  if (found !== undefined) return found;
  throw usageError(
    "No check is configured that could decide between attempts.",
    "Name one: --check 'npm test', or `check` in .gennai/config.yaml.",
  );
}

async function offerBest({
  made,
  session,
  all,
  flags,
  place,
}: {
  readonly made: AttemptSet;
  readonly session: AgentSession;
  readonly all: AttemptsDesk;
  readonly flags: RunFlags;
  readonly place: OfferContext;
}): Promise<number> {
  const { console } = place;
  const kept = new KeptAttempts(all.stateDir);
  const of = kept.find(made.id);
  const best = of?.attempts[0];
  if (of === undefined || best === undefined) throw new Error("The attempts are gone.");
  const json = flags.json === true;
  const name = commandName(console.environment);
  if (!json) console.output.write(`\n${describeAttempts(of)}\n`);
  const usable = isUsable(best);
  const wishes = { keep: flags.yes === true, ask: flags.ask === true, include: [] };
  const offer =
    flags.mode === "proposal"
      ? () => proposeAttempt({ session, attemptsId: of.id, number: best.number, flags, json }, place)
      : async () => {
          const { kept: taken, unasked } = await offerAttempt({ of, attempt: best, kept, wishes, json }, place);
          return { taken: taken.map((change) => change.name), unasked };
        };
  const offered = usable ? await offer() : undefined;
  if (json) {
    const result = { ...of, best: usable ? best.number : undefined, kept: offered?.taken ?? [] };
    console.output.write(`${jsonLine({ result })}\n`);
  } else if (usable) {
    console.output.write(`Look at the others: ${name} attempts show N, and ${name} attempts take N\n`);
  } else console.output.write(`No attempt changed anything that can be kept: ${terminalSafe(best.text)}\n`);
  if (!usable) return exitCode.failed;
  return offered?.unasked === true ? exitCode.refused : exitCode.ok;
}
