import type { AgentSession } from "@gennai/client/session/agent-session";
import { type FirstCommit, makeFirstCommit } from "@gennai/client/session/workspace-state";
import type { AgentBranch } from "@gennai/git/prepare-branch";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import { plural } from "@gennai/protocol/plural";
import { prepareAgentBranch, presentBranch } from "../../client/agent-branch.ts";
import type { LineInput } from "../../terminal/line-input.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import type { RunFlags } from "./run-options.ts";

interface BranchOptions {
  readonly workspace: string;
  readonly flags: Pick<RunFlags, "branch" | "protect">;
  /** The server reaches the files only through this command. */
  readonly isHeld: boolean;
  /** A person can be asked. */
  readonly asks: boolean;
}

/** Sees to the branch of requests, as far as no server can do it when something is written. */
export class RequestBranch {
  readonly #options: BranchOptions;
  /** The first commit is offered in the session, before its branch leaves the one without a commit. */
  readonly offersFirst: boolean;
  #isOffered = false;

  constructor(options: BranchOptions) {
    this.#options = options;
    this.offersFirst = options.asks && !options.isHeld && hasNoCommit(options.workspace);
  }

  /** @param at where a first commit is offered, once. @returns the branch that is worked on, as far as it is known. Throws `CliError` */
  async prepare(
    request: string,
    mode: EditingMode | "plan" | undefined,
    at?: { readonly session: AgentSession; readonly place: Parameters<typeof offerFirstCommit>[1] },
  ): Promise<AgentBranch | undefined> {
    if (mode === "proposal") return undefined;
    if (at !== undefined && this.offersFirst && !this.#isOffered) {
      this.#isOffered = true;
      await offerFirstCommit(at.session, at.place);
    }
    const { workspace, flags, isHeld } = this.#options;
    const { branch, protect = [] } = flags;
    const wanted = { workspace, request, protect, signal: new AbortController().signal };
    if (branch !== undefined) return prepareAgentBranch({ ...wanted, branch });
    // A server elsewhere cannot begin one here, and a plan is bound to its branch.
    return isHeld || mode === "plan" ? prepareAgentBranch(wanted) : presentBranch(wanted);
  }
}

function hasNoCommit(directory: string): boolean {
  const head = readGitHead(directory);
  return head.type === "branch" && head.commit === undefined;
}

/** Most file names that are shown; the others are counted. */
const most = 30;

/**
 * Offers the first commit of a repository that has none, before the agent's branch leaves `main`: otherwise git has no `main` to
 * return to. Asks again if the files have changed meanwhile. Rejects if it cannot be made; then nothing was committed.
 */
async function offerFirstCommit(
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
