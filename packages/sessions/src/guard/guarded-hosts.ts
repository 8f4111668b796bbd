import { isDeepStrictEqual } from "node:util";
import { claudeCode } from "@gennai/governance/guard/claude-code";
import { codex } from "@gennai/governance/guard/codex";
import { copilot } from "@gennai/governance/guard/copilot";
import { gemini } from "@gennai/governance/guard/gemini";
import {
  type GuardedHost,
  type HostAnswer,
  type HostCall,
  type HostEvent,
  type HostVerdict,
  UnreadableHookInput,
} from "@gennai/governance/guard/guarded-host";
import { opencode } from "@gennai/governance/guard/opencode";
import { pi } from "@gennai/governance/guard/pi";
import { ServiceError } from "@gennai/machine/service-error";
import type { SessionManager } from "../manager/session-manager.ts";
import type { Session } from "../session/session.ts";
import { type GuardedCall, judgeGuardedCall } from "./guarded-call.ts";

/** By id. */
const guardedHosts: ReadonlyMap<string, GuardedHost> = new Map(
  [claudeCode, codex, copilot, gemini, opencode, pi].map((host) => [host.id, host]),
);

/** Milliseconds after which nobody expects the end of a call any more: longer than any agent lets a command run, and its user think. */
const abandonedMs = 2 * 60 * 60 * 1000;
/** Calls of one session of an agent that it has not ended. */
const maxOpen = 100;
/** Sessions of agents that are known by their own ids; the ones longest unused are forgotten first, and begin anew. */
const maxSessions = 1_000;

interface HostSession {
  /** Its id only: the object of a session is whose who holds it. */
  readonly id: Promise<string>;
  readonly open: Map<string, OpenCall>;
}
interface OpenCall extends GuardedCall {
  readonly judged: Extract<HostCall, { readonly type: "judged" }>;
}

/** Other agents whose calls the gate judges: a session of ours for each session of theirs in a project. */
export class GuardedHosts {
  readonly #manager: SessionManager;
  readonly #sessions = new Map<string, HostSession>();

  constructor(manager: SessionManager) {
    this.#manager = manager;
  }

  /**
   * Takes what an agent's hook was told, and gives what it is to answer; undefined: nothing. Rejects with `ServiceError`: then a call
   * must not run.
   * @param workingDir of the project; empty: the server's default
   */
  async tell(hostId: string, workingDir: string, payload: unknown): Promise<HostAnswer | undefined> {
    const host = guardedHosts.get(hostId);
    if (host === undefined) {
      throw new ServiceError("invalid_argument", `There is no guard for ${JSON.stringify(hostId.slice(0, 100))}.`, {
        hint: `Agents: ${[...guardedHosts.keys()].join(", ")}.`,
      });
    }
    const verdict = await this.#verdict(host, workingDir, eventOf(host, payload));
    return verdict === undefined ? undefined : host.answer(verdict);
  }

  async #verdict(host: GuardedHost, workingDir: string, event: HostEvent): Promise<HostVerdict | undefined> {
    const { emergency, callers } = this.#manager.services;
    if (event.type === "other") return undefined;
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
        const open = [...(this.#sessions.get(key)?.open.values() ?? [])];
        for (const call of open) call.abandoned();
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
    // One that is told again was not let go on the first time.
    known.open.get(callId)?.abandoned();
    if (known.open.size >= maxOpen) {
      return {
        type: "deny",
        reason: `${maxOpen} calls of this session have no end yet. Wait for some of them. (Gennai)`,
      };
    }
    await session.catchUp();
    const judging = judgeGuardedCall(session, call, { host, hostSession, callId, directory, asks });
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

  /** Held before it is looked for: whatever closes sessions closes no held one. One that somebody deleted begins anew. */
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
    const known = found ?? { id: this.#begin(host, workingDir), open: new Map<string, OpenCall>() };
    // The one used last stands last.
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
    return known;
  }

  /** No model of ours speaks in it: the offline assistant needs nothing. */
  async #begin(host: GuardedHost, workingDir: string): Promise<string> {
    const { defaultSettings, callers } = this.#manager.services;
    const settings = { ...defaultSettings, backend: "offline", model: "", interactive: false } as const;
    const session = await this.#manager.start(settings, workingDir, callers.current()?.user ?? "");
    await session.rename(`${host.title}, guarded`);
    return session.id;
  }
}

const ranAnother = "It ran with other arguments than those that were judged: another hook, or a person, changed them.";

/** For a call whose id only says what it is: one that is the same may be open. */
function freeId(open: ReadonlyMap<string, OpenCall>, told: string): string {
  let id = told;
  for (let number = 2; open.has(id); number += 1) id = `${told} ${number}`;
  return id;
}

/**
 * The open call that this is the end of. Of an agent whose calls have no ids it is the newest that is the same; where there is none, it
 * was changed, and is one of the same tool.
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

/** Where it stood is not part of it: a command may have gone elsewhere since. */
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
