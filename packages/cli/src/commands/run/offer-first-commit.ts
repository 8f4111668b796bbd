import type { AgentSession } from "@gennai/client/session/agent-session";
import { type FirstCommit, makeFirstCommit } from "@gennai/client/session/workspace-state";
import { plural } from "@gennai/protocol/plural";
import type { LineInput } from "../../terminal/line-input.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";

/** Most file names that are shown; the others are counted. */
const most = 30;

/**
 * Offers the first commit of a repository that has none, before the agent's branch leaves `main`: otherwise git has no `main` to
 * return to. Asks again if the files have changed meanwhile. Rejects if it cannot be made; then nothing was committed.
 */
export async function offerFirstCommit(
  session: Pick<AgentSession, "client" | "sessionId">,
  {
    input,
    write,
    signal,
  }: {
    readonly input: Pick<LineInput, "question">;
    readonly write: (text: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { client, sessionId } = session;
  let planned = await makeFirstCommit(client, { sessionId, signal });
  while (planned !== undefined && planned.commit === undefined) {
    write(described(planned));
    const answer = await input.question("Make this first commit? [y/N] ", { signal });
    if (!/^y(es)?$/i.test(answer?.trim() ?? "")) return;
    planned = await makeFirstCommit(client, { sessionId, sha256: planned.sha256, signal });
  }
  if (planned !== undefined) {
    write(`The first commit is on ${terminalSafe(planned.branch)}: ${plural(planned.fileCount, "file")}.\n`);
  }
}

function described({ branch, files, fileCount, leftOut, leftOutCount }: FirstCommit): string {
  const out =
    leftOutCount === 0
      ? ""
      : `These stay out: not for the agent, secret by their names, or for a filter like git-crypt and LFS:\n${listed(leftOut, leftOutCount)}`;
  return (
    `This repository has no commit yet. With one, git shows what the agent changes, and you can come back to ${terminalSafe(branch)}.\n` +
    `A first commit on ${terminalSafe(branch)} would have ${plural(fileCount, "file")}:\n${listed(files, fileCount)}${out}`
  );
}

function listed(paths: readonly string[], count: number): string {
  const shown = paths.slice(0, most).map((path) => `  ${terminalSafe(path)}\n`);
  const more = count - shown.length;
  return `${shown.join("")}${more > 0 ? `  and ${plural(more, "other file", "other files")}\n` : ""}`;
}
