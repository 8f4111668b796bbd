import { isDeepStrictEqual } from "node:util";
import { ServiceError } from "@gennai/machine/service-error";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { Session } from "@gennai/sessions/session/session";
import { type GuardedCall, judgeGuardedCall } from "./guarded-call.ts";
import {
  type GuardedHost,
  type HostAnswer,
  type HostCall,
  type HostEvent,
  type HostVerdict,
  probeSession,
  UnreadableHookInput,
} from "./hosts/guarded-host.ts";
import { knownHosts } from "./hosts/known-hosts.ts";

/**
 * Milliseconds after which the end of a call is no longer expected: longer than any agent lets a command run and its user
 * think.
 */
const abandonedMs = 2 * 60 * 60 * 1000;
/** Maximum unfinished calls of one agent session. */
const maxOpen = 100;
/** Agent sessions remembered by their own ids; the least recently used are forgotten first and start again. */
const maxSessions = 1_000;

interface HostSession {
  /** Only the id: callers must hold a session to use its object. */
  readonly id: Promise<string>;
  readonly open: Map<string, OpenCall>;
  /** Number of its turn, from 1: a turn ends when the host says that it is idle. */
  turn: number;
  /** True if a call was made in that turn. */
  isBusy: boolean;
}
interface OpenCall extends GuardedCall {
  readonly judged: Extract<HostCall, { readonly type: "judged" }>;
}

/** Other agents whose calls the gate judges: one of our sessions for each of their sessions in a project. */
export class GuardedHosts {
  readonly #manager: SessionManager;
  readonly #sessions = new Map<string, HostSession>();
  /** Ids of the agents, by the ids of our sessions. */
  readonly #agents = new Map<string, string>();

  constructor(manager: SessionManager) {
    this.#manager = manager;
  }

  /** Id of the agent whose calls are judged in this session; undefined for others, and for those of before the server started. */
  agentOf(sessionId: string): string | undefined {
    return this.#agents.get(sessionId);
  }

  /**
   * Processes the input of an agent's hook; resolves with the hook's answer, undefined if there is none. Rejects with
   * `ServiceError`: then the call must not run.
   * @param workingDir of the project; empty: the server's default
   */
  async tell(hostId: string, workingDir: string, payload: unknown): Promise<HostAnswer | undefined> {
    const host = knownHosts.get(hostId);
    if (host === undefined) {
      throw new ServiceError("invalid_argument", `There is no guard for ${JSON.stringify(hostId.slice(0, 100))}.`, {
        hint: `Agents: ${[...knownHosts.keys()].join(", ")}.`,
      });
    }
    const event = eventOf(host, payload);
    const verdict = await this.#verdict(host, workingDir, event);
    return verdict === undefined ? undefined : host.answer(verdict, event);
  }

  async #verdict(host: GuardedHost, workingDir: string, event: HostEvent): Promise<HostVerdict | undefined> {
    const { emergency, callers } = this.#manager.services;
    if (event.type === "other") return undefined;
    if (event.session === probeSession) return { type: "deny", reason: "This call only tries the hook. (Gennai)" };
    const key = JSON.stringify([host.id, callers.current()?.user ?? "", workingDir, event.session]);
    switch (event.type) {
      case "before":
        if (event.call.type === "own") {
          const reason = "All work is stopped by an emergency control. (Gennai)";
          return emergency.current().stopAll ? { type: "stop", reason, before: true } : undefined;
        }
        return this.#judge(host, workingDir, key, { ...event, call: event.call });
      case "after": {
        const call = endedCall(host, this.#sessions.get(key)?.open, event);
        const isAnother = call !== undefined && event.ran !== undefined && !isSameCall(call.judged, event.ran);
        call?.ended(isAnother ? { ...event.end, failed: true, message: ranAnother } : event.end);
        await call?.done;
        if (isAnother) return { type: "stop", reason: `${ranAnother} (Gennai)`, before: false };
        const reason = "All work is stopped by an emergency control. (Gennai)";
        return emergency.current().stopAll ? { type: "stop", reason, before: false } : undefined;
      }
      case "idle": {
        const known = this.#sessions.get(key);
        if (known === undefined) return undefined;
        const open = [...known.open.values()];
        for (const call of open) call.abandoned();
        if (known.isBusy) known.turn += 1;
        known.isBusy = false;
        await Promise.all(open.map(({ done }) => done));
        return undefined;
      }
    }
  }

  async #judge(
    host: GuardedHost,
    workingDir: string,
    key: string,
    {
      call,
      callId: told,
      session: hostSession,
      directory,
      asks = host.asks,
    }: Extract<HostEvent, { readonly type: "before" }> & {
      readonly call: Parameters<typeof judgeGuardedCall>[1];
    },
  ): Promise<HostVerdict> {
    using held = new DisposableStack();
    const { known, session } = await this.#opened(host, workingDir, key, held);
    const callId = host.namesCalls === false ? freeId(known.open, told) : told;
    // A call that is announced again was not allowed to continue the first time.
    known.open.get(callId)?.abandoned();
    if (known.open.size >= maxOpen) {
      return {
        type: "deny",
        reason: `${maxOpen} calls of this session have no end yet. Wait for some of them. (Gennai)`,
      };
    }
    await session.catchUp();
    known.isBusy = true;
    const turnId = `${host.id} ${hostSession}${known.turn === 1 ? "" : ` ${known.turn}`}`;
    const judging = judgeGuardedCall(session, call, { host, hostSession, callId, directory, turnId, asks });
    const judged: OpenCall = { ...judging, judged: call };
    known.open.set(callId, judged);
    const untilDone = held.move();
    const timer = setTimeout(() => judged.abandoned(), abandonedMs).unref();
    void judged.done.then(() => {
      clearTimeout(timer);
      if (known.open.get(callId) === judged) known.open.delete(callId);
      untilDone.dispose();
    });
    return await judged.verdict;
  }

  /** Held before it is looked up: held sessions are never closed. A deleted session starts again. */
  async #opened(
    host: GuardedHost,
    workingDir: string,
    key: string,
    held: DisposableStack,
  ): Promise<{ readonly known: HostSession; readonly session: Session }> {
    const known = this.#sessionOf(host, workingDir, key);
    const id = await known.id;
    const hold = this.#manager.hold(id);
    try {
      const session = await this.#manager.get(id);
      held.use(hold);
      return { known, session };
    } catch (error) {
      hold[Symbol.dispose]();
      if (!(error instanceof ServiceError && error.code === "not_found")) throw error;
      if (this.#sessions.get(key) === known) this.#sessions.delete(key);
      return this.#opened(host, workingDir, key, held);
    }
  }

  #sessionOf(host: GuardedHost, workingDir: string, key: string): HostSession {
    const found = this.#sessions.get(key);
    const known = found ?? {
      id: this.#begin(host, workingDir),
      open: new Map<string, OpenCall>(),
      turn: 1,
      isBusy: false,
    };
    // Reinserted, so that the most recently used one is last.
    this.#sessions.delete(key);
    this.#sessions.set(key, known);
    if (found !== undefined) return known;
    known.id.catch(() => {
      if (this.#sessions.get(key) === known) this.#sessions.delete(key);
    });
    for (const [oldest, { open }] of this.#sessions) {
      if (this.#sessions.size <= maxSessions) break;
      if (open.size === 0) this.#sessions.delete(oldest);
    }
    for (const oldest of this.#agents.keys()) {
      if (this.#agents.size <= maxSessions) break;
      this.#agents.delete(oldest);
    }
    return known;
  }

  /** None of our models is used in it, so it runs with the offline assistant, which needs no setup. */
  async #begin(host: GuardedHost, workingDir: string): Promise<string> {
    const { defaultSettings, callers } = this.#manager.services;
    const settings = { ...defaultSettings, backend: "offline", model: "", interactive: false } as const;
    const session = await this.#manager.start(settings, workingDir, callers.current()?.user ?? "");
    await session.rename(`${host.title}, guarded`);
    this.#agents.set(session.id, host.id);
    return session.id;
  }
}

const ranAnother = "It ran with other arguments than those that were judged: another hook, or a person, changed them.";

/** For hosts without unique call ids: an identical call may still be open. */
function freeId(open: ReadonlyMap<string, OpenCall>, told: string): string {
  let id = told;
  for (let number = 2; open.has(id); number += 1) id = `${told} ${number}`;
  return id;
}

/**
 * Finds the open call that this end belongs to. For agents without call ids: the newest identical call; if there is none, the
 * call was changed, and the newest one of the same tool is used.
 */
function endedCall(
  { namesCalls }: GuardedHost,
  open: ReadonlyMap<string, OpenCall> | undefined,
  { callId, ran }: Extract<HostEvent, { readonly type: "after" }>,
): OpenCall | undefined {
  if (namesCalls !== false) return open?.get(callId);
  const all = [...(open ?? [])];
  const [, same] = all.findLast(([id]) => id === callId || id.startsWith(`${callId} `)) ?? [];
  if (same !== undefined || ran?.type !== "judged") return same;
  return all.find(([, { judged }]) => judged.tool === ran.tool)?.[1];
}

/** The working directory is not compared: a command may have changed it. */
function isSameCall(judged: Extract<HostCall, { readonly type: "judged" }>, ran: HostCall): boolean {
  if (ran.type !== "judged" || ran.tool !== judged.tool) return false;
  const { cwd: _, ...args } = judged.args;
  const { args: said } = ran;
  return isDeepStrictEqual(judged.server === undefined ? args : judged.args, said);
}

function eventOf(host: GuardedHost, payload: unknown): HostEvent {
  try {
    return host.read(payload);
  } catch (error) {
    if (!(error instanceof UnreadableHookInput)) throw error;
    throw new ServiceError("invalid_argument", error.message, { cause: error });
  }
}
