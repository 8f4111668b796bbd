import type { Confirmer } from "@gennai/governance/confirmation";
import { governTools } from "@gennai/governance/gate/gate";
import type { ToolError } from "@gennai/governance/tool-error";
import { NotedFiles } from "@gennai/sessions/context/noted-files";
import { loadTurnRules } from "@gennai/sessions/policies/turn-rules";
import type { Session } from "@gennai/sessions/session/session";
import { WorkingTreeClaim } from "@gennai/sessions/session/working-tree-claim";
import { SessionJournal } from "@gennai/sessions/turn/session-journal";
import { GuardedChanges } from "./guarded-changes.ts";
import { type GuardedToolPorts, guardedTool } from "./guarded-tools.ts";
import type { GuardedHost, HostCall, HostCallEnd, HostVerdict } from "./hosts/guarded-host.ts";

/** Maximum milliseconds for a policy. */
const policyTimeoutMs = 5_000;

/** A call by another agent, from its request to its end. */
export interface GuardedCall {
  /**
   * Resolves when the decision is durable; then the call may run. Rejects if it could not be decided or recorded: then it must
   * not run.
   */
  readonly verdict: Promise<HostVerdict>;
  /** Resolves when its end is recorded. Never rejects. */
  readonly done: Promise<void>;
  /** The call's end, as reported by the host. */
  ended(end: HostCallEnd): void;
  /** Call it when the host will not report the end. */
  abandoned(): void;
}

export interface GuardedCallPorts {
  readonly host: GuardedHost;
  readonly hostSession: string;
  readonly callId: string;
  readonly directory: string;
  /** Names the host's session and its turn: the calls of a turn are one change set. */
  readonly turnId: string;
  /** Whether the host's user can be asked. */
  readonly asks: boolean;
}

/**
 * Judges a call that another agent is about to make: same rules and records as for our own unstaged calls. Here, "running"
 * means that the host was allowed to continue.
 */
export function judgeGuardedCall(
  session: Session,
  call: Extract<HostCall, { readonly type: "judged" }>,
  ports: GuardedCallPorts,
): GuardedCall {
  const verdict = Promise.withResolvers<HostVerdict>();
  const end = Promise.withResolvers<HostCallEnd>();
  let passedOn = "";
  const run: GuardedToolPorts["run"] = async ({ signal }) => {
    signal.throwIfAborted();
    verdict.resolve(passedOn === "" ? { type: "allow" } : { type: "ask", reason: passedOn });
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await Promise.race([end.promise, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  };
  // Our users are not asked: the host's own user sees the call.
  const confirmer: Confirmer = {
    ask: async ({ computed: { rule, reason } }) => {
      if (!ports.asks) return { type: "nobody" };
      passedOn = `${reason} (Gennai, rule ${rule})`;
      return { type: "passed-on", by: ports.host.id };
    },
  };
  const judged = judge(session, call, { ...ports, run, confirmer });
  judged.then(
    (refusal) => verdict.resolve(refusal),
    (error: unknown) => verdict.reject(error),
  );
  return {
    verdict: verdict.promise,
    done: judged.then(
      () => undefined,
      () => undefined,
    ),
    ended: (said) => end.resolve(said),
    abandoned: () => {
      const message =
        passedOn === ""
          ? `${ports.host.title} did not say how it ended.`
          : `${ports.host.title} was to ask its user, and did not say that it ran.`;
      end.resolve({ failed: true, message });
    },
  };
}

/** Resolves with the verdict when everything is recorded. If the host was already allowed to continue, it is not used. */
async function judge(
  session: Session,
  call: Extract<HostCall, { readonly type: "judged" }>,
  ports: GuardedCallPorts & Pick<GuardedToolPorts, "run"> & { readonly confirmer: Confirmer },
): Promise<HostVerdict> {
  const { services, workspace, state, writer } = session;
  const { host, hostSession, callId, directory, turnId } = ports;
  const { signal } = new AbortController();
  const kept = new GuardedChanges(session, (text) => journal.warn(text, turnId));
  using tree = new WorkingTreeClaim(services.locks, workspace.place, session.id);
  // How long the host works on a file is unknown: it is refused a tree that one of our sessions writes to, but does not block
  // anyone itself.
  const rules = await loadTurnRules(session, {
    editingMode: "branch",
    claimTree: () => tree.look(),
    signal,
  });
  const tool = guardedTool(call, {
    workspace,
    directory,
    home: services.home,
    loadWeb: () => services.loadWeb(),
    searchExcludes: rules.searchExcludes,
    run: ports.run,
    keep: (effects, stop) => kept.keep(effects, stop),
  });
  const journal = new SessionJournal(session, {
    writer,
    modelId: host.id,
    governance: rules.governance,
    notes: new NotedFiles(),
    forUser: true,
    guarded: { agent: host.id, agentSession: hostSession },
  });
  const policies = [...rules.policies, kept.policy];
  const gate = governTools({
    sessionId: session.id,
    tools: new Map([[tool.name, tool]]),
    policies,
    confirmer: ports.confirmer,
    journal: rules.hooks.journal(journal, writer, signal),
    standingCheck: services.emergency.standingCheck,
    observer: services.observer.gate,
    redactor: services.redactor,
    remembered: session.remembered,
    policySha256: rules.digest(policies),
    intent: () => state.activeIntent,
    isolation: "unsandboxed",
    policyTimeoutMs,
    now: services.now,
  });
  const made = { id: callId, name: tool.name, argumentsJson: JSON.stringify(call.args) };
  const [result] = await gate.run([made], { turnId, signal });
  const { error } = result ?? {};
  if (error === undefined) return { type: "allow" };
  const reason = reasonOf(error, session);
  return error.rule === "emergency/stop-all" ? { type: "stop", reason, before: true } : { type: "deny", reason };
}

/** For the agent's model and its user: the reason, what to do instead, and the rule. */
function reasonOf({ code, message, hint, rule }: ToolError, session: Session): string {
  // That tool is ours; the other agent does not have it.
  const next =
    rule === "intents/required"
      ? `Ask the user to select an intent for the session ${session.id} in Gennai.`
      : code === "nobody_to_ask"
        ? "Tell the user: no rule can allow it, so they have to do it themselves."
        : hint;
  const by = rule === undefined ? "Gennai" : `Gennai, rule ${rule}`;
  return [message, ...(next === undefined ? [] : [next]), `(${by})`].join(" ");
}
