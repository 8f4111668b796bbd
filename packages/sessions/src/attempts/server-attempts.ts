import { dirname } from "node:path";
import { ServiceError } from "@gennai/machine/service-error";
import { type Attempt, type AttemptSet, mostAttempts } from "@gennai/protocol/model/session/attempt";
import { layStagedTree } from "@gennai/shell/proposal/lay-staged-tree";
import { findDecidingCommand } from "../context/detect-check.ts";
import { whyNotStaged } from "../policies/proposal-mode.ts";
import { SessionProposal } from "../proposal/session-proposal.ts";
import type { Session } from "../session/session.ts";
import { type AttemptRecord, KeptAttempts } from "./kept-attempts.ts";
import type { AttemptPorts, AttemptsRequest } from "./make-attempt.ts";
import { RunningAttempts, tellOf } from "./running-attempts.ts";
import { takeAttempt } from "./take-attempt.ts";
import { makeWorkingCopies } from "./working-copies.ts";

export interface ServerAttemptsOptions extends AttemptPorts {
  /** Private directory, real path. */
  readonly stateDir: string;
}

/**
 * The attempts of a server's sessions: started, stopped, shown and taken. They belong to the workspace and its user, and
 * outlive the session in which they were requested.
 */
export class ServerAttempts implements AsyncDisposable {
  readonly #options: ServerAttemptsOptions;
  readonly #kept: KeptAttempts;
  readonly #running = new Map<string, RunningAttempts>();
  /** Attempts being started, by client id. */
  readonly #beginning = new Map<string, Promise<AttemptSet>>();
  readonly #left = new AbortController();

  constructor(options: ServerAttemptsOptions) {
    this.#options = options;
    this.#kept = new KeptAttempts(options.stateDir);
  }

  /** The workspace of which this is a copy, so that lasting answers for it also apply there; the argument itself if it is no copy. */
  originalOf(workspace: string): string {
    const maker = [...this.#running.values()].find((running) => running.worksIn(workspace));
    return maker?.session.workspace.root ?? workspace;
  }

  /** Removes what dead servers left behind, and marks their attempts as ended. */
  recover(now: number): Promise<void> {
    return this.#kept.recover(now);
  }

  /**
   * Starts attempts, once for each `clientId`. Resolves when the copies exist and the attempts are running. Rejects with
   * `ServiceError` if they cannot be started; then nothing is left behind.
   */
  async start(session: Session, request: AttemptsRequest): Promise<AttemptSet> {
    const { clientId } = request;
    const known = this.#records(session).find((one) => one.clientId === clientId);
    if (known !== undefined) return known.set;
    const key = `${session.id} ${clientId}`;
    const beginning = this.#beginning.get(key) ?? this.#begin(session, request);
    this.#beginning.set(key, beginning);
    try {
      return await beginning;
    } finally {
      this.#beginning.delete(key);
    }
  }

  /** The attempts of the session's workspace and user, newest first. */
  list(session: Session): readonly AttemptSet[] {
    return this.#records(session).map(({ set }) => set);
  }

  /** Stops attempts; resolves when they have ended. @param number of one attempt; 0: all. Rejects with `ServiceError` */
  async stop(session: Session, id: string, number: number): Promise<AttemptSet> {
    const found = this.#find(session, id);
    if (number !== 0) attemptOf(found, number);
    await this.#running.get(id)?.stop(number);
    return this.#find(session, id);
  }

  /** Stops the running attempts that were requested in one of these sessions. */
  async stopOf(isMeant: (session: Session) => boolean): Promise<void> {
    const meant = [...this.#running.values()].filter(({ session }) => isMeant(session));
    await Promise.all(meant.map((running) => running.stop(0)));
  }

  /** Content of a file before or after an attempt. Rejects with `ServiceError`, also for a file that contains a secret. */
  async content(session: Session, id: string, sha256: string): Promise<Uint8Array> {
    const found = this.#find(session, id);
    const isNamed = found.attempts.some(({ changes }) =>
      changes.some(({ before, after }) => before?.sha256 === sha256 || after?.sha256 === sha256),
    );
    const bytes = isNamed ? this.#kept.bytes(id, sha256) : undefined;
    const text = bytes?.toString("utf8") ?? "";
    if (bytes === undefined || (await session.services.redactor.redact(text)) !== text)
      throw new ServiceError("not_found", "The attempts have no such content, or it holds a secret.");
    return bytes;
  }

  /** Turns an attempt into the session's proposal. @returns its id. Rejects with `ServiceError` */
  async take(session: Session, id: string, number: number): Promise<string> {
    const of = this.#find(session, id);
    const attempt = attemptOf(of, number);
    if (attempt.phase !== "ended" || attempt.changes.length === 0) {
      const why = attempt.phase === "ended" ? "changed nothing" : "has not ended";
      throw new ServiceError("failed_precondition", `Attempt ${number} ${why}, so there is nothing to take.`, {
        reason: "nothing_to_take",
      });
    }
    session.refuseWhileRunning("take an attempt");
    const { stateDir } = this.#options;
    const contentOf = (sha256: string) => this.#kept.bytes(id, sha256);
    const proposalId = await takeAttempt(session, { of, attempt, stateDir, contentOf });
    await tellOf(session, { attemptsId: id, attempt: number });
    return proposalId;
  }

  /** Deletes attempts; running ones are stopped first. Rejects with `ServiceError` */
  async drop(session: Session, id: string): Promise<void> {
    this.#find(session, id);
    const running = this.#running.get(id);
    await running?.stop(0);
    await running?.closed;
    await this.#kept.drop(id);
    await tellOf(session, { attemptsId: id, attempt: 0 });
  }

  /** Shutdown: stops all attempts. Resolves when their copies are removed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#left.abort();
    await Promise.allSettled(this.#beginning.values());
    await Promise.all([...this.#running.values()].map((running) => running.leave()));
  }

  async #begin(session: Session, request: AttemptsRequest): Promise<AttemptSet> {
    const { services, workspace } = session;
    refuseElsewhere(session);
    const why = await whyNotStaged(session);
    if (why !== undefined) {
      throw new ServiceError("failed_precondition", `Attempts need staged commands, and here ${why}.`, {
        reason: "not_staged",
      });
    }
    services.emergency.assertTurnsMayStart();
    services.admission.assertRoomForNew();
    if (request.count < 2 || request.count > mostAttempts)
      throw new ServiceError("invalid_argument", `There are 2 to ${mostAttempts} attempts.`);
    const check = await decidingCheck(session, request.check);
    const { signal } = this.#left;
    await this.#kept.recover(services.now());
    const open = openBeside(this.#kept, workspace.root);
    await using made = new AsyncDisposableStack();
    made.defer(() => this.#kept.close(open));
    const proposal = session.settings.editingMode === "proposal" ? await SessionProposal.of(session) : undefined;
    await proposal?.renew();
    const lay = proposal && ((base: string) => layStagedTree(proposal.tree, base));
    const copies = await makeWorkingCopies(workspace.root, open.place, { count: request.count, lay, signal });
    signal.throwIfAborted();
    const running = new RunningAttempts({ session, request, check, open, copies, ports: this.#options });
    this.#running.set(open.id, running);
    const held = this.#options.manager.hold(session.id);
    running.closeBy(made.move(), () => {
      this.#running.delete(open.id);
      held[Symbol.dispose]();
    });
    return this.#find(session, open.id);
  }

  #records(session: Session): readonly AttemptRecord[] {
    return this.#kept.list(session.workspace.root).filter(({ user }) => user === session.user);
  }

  #find(session: Session, id: string): AttemptSet {
    const found = this.list(session).find((one) => one.id === id);
    if (found !== undefined) return found;
    throw new ServiceError("not_found", "There are no such attempts here.", {
      hint: "They may have been dropped; list the attempts to see those that remain.",
    });
  }
}

/** Throws `ServiceError` if attempts cannot work in copies here. */
function refuseElsewhere({ services, settings, user, workspace }: Session): void {
  if (settings.backend === "editor") {
    throw new ServiceError("failed_precondition", "A model of the editor answers only in the editor's own session.", {
      reason: "editor_model",
      hint: "Choose a model of a provider for attempts.",
    });
  }
  try {
    services.userWorkspaces?.assertOwn(user, dirname(workspace.root));
  } catch (cause) {
    throw new ServiceError(
      "failed_precondition",
      "Copies cannot be made, because the directory above this workspace is not yours.",
      {
        reason: "no_place",
        hint: "Work in a directory below your own.",
        cause,
      },
    );
  }
}

function attemptOf(all: AttemptSet, number: number): Attempt {
  const attempt = all.attempts.find((one) => one.number === number);
  if (attempt !== undefined) return attempt;
  throw new ServiceError("not_found", `There is no attempt ${number} of ${all.id}.`);
}

async function decidingCheck({ workspace }: Session, asked: string): Promise<string> {
  const found = await findDecidingCommand(workspace.root, asked);
  if (found !== undefined) return found;
  throw new ServiceError("failed_precondition", "No check is configured that could decide between attempts.", {
    reason: "no_check",
    hint: "Name one as `check` in .gennai/config.yaml, e.g. check: npm test",
  });
}

function openBeside(kept: KeptAttempts, workspace: string) {
  try {
    return kept.open(workspace);
  } catch (cause) {
    throw new ServiceError("failed_precondition", "Copies cannot be made beside the workspace.", {
      reason: "no_place",
      hint: "The server has to be able to write into the directory that holds the workspace.",
      cause,
    });
  }
}
