import { listSessions } from "@gennai/client/session/session-list";
import type { ChosenServer } from "../../connection/server-choice.ts";
import { usageError } from "../../terminal/cli-error.ts";
import type { RunFlags } from "./run-options.ts";

type ResumeFlags = Pick<RunFlags, "session" | "resume" | "continue">;

/** The session that is named, or the newest of the workspace; undefined: a new one is wanted. Throws `CliError` if there is none. */
export async function sessionToResume(
  flags: ResumeFlags,
  { client }: Pick<ChosenServer, "client">,
  workspace: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const named = namedSession(flags);
  if (named !== undefined || flags.continue !== true) return named;
  const id = (await listSessions(client, workspace, { signal }))[0]?.sessionId;
  if (id !== undefined) return id;
  throw usageError(`There is no session of ${workspace} to continue.`, "Run it without --continue.");
}

/** True if the flags ask for no earlier session. Throws `CliError` for flags that contradict each other. */
export function isNewSession(flags: ResumeFlags): boolean {
  return namedSession(flags) === undefined && flags.continue !== true;
}

/** The session that is named; undefined: none. Throws `CliError` for flags that contradict each other. */
export function namedSession({ session, resume, continue: newest }: ResumeFlags): string | undefined {
  if (session !== undefined) throw usageError("--session is called --resume.", `Write --resume ${session}.`);
  if (resume === true) throw usageError("Name the session: --resume ID", "`gennai sessions` lists them.");
  if (resume !== undefined && newest === true)
    throw usageError("--resume and --continue exclude each other.", "Leave one of them out.");
  return resume;
}
