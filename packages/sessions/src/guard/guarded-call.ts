import type { Confirmer } from "@gennai/governance/confirmation";
import { governTools } from "@gennai/governance/gate/gate";
import type { GuardedHost, HostCall, HostCallEnd, HostVerdict } from "@gennai/governance/guard/guarded-host";
import { withPostToolHooks } from "@gennai/governance/hooks/hooks-journal";
import type { ToolError } from "@gennai/governance/tool-error";
import { NotedFiles } from "../context/noted-files.ts";
import { loadTurnRules } from "../policies/turn-rules.ts";
import type { Session } from "../session/session.ts";
import { WorkingTreeClaim } from "../session/working-tree-claim.ts";
import { SessionJournal } from "../turn/records/session-journal.ts";
import { type GuardedToolPorts, guardedTool } from "./guarded-tools.ts";

/** Milliseconds a policy may take. */
const policyTimeoutMs = 5_000;

/** A call of another agent, from its question to its end. */
export interface GuardedCall {
  /** Durably recorded where the call may run now. Rejects where it could not be decided or recorded: then it must not run. */
  readonly verdict: Promise<HostVerdict>;
  /** Resolves when its end is recorded. Never rejects. */
  readonly done: Promise<void>;
  /** How it ended, as the host said it. */
  ended(end: HostCallEnd): void;
  /** The host will never say how it ended. */
  abandoned(): void;
}

export interface GuardedCallPorts {
  readonly host: GuardedHost;
  readonly hostSession: string;
  readonly callId: string;
  readonly directory: string;
  /** Whether its user can be asked about it. */
  readonly asks: boolean;
}

/**
 * Has the gate judge one call that another agent is about to make: by the same rules, in the same records, as a call of ours that is
 * not staged. "It runs" means there that the host was let go on.
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
  // Nobody of ours is asked: the host's own user is there, and sees the call.
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

/** Resolves when all is recorded, with what speaks against the call; that says nothing where the host was let go on. */
async function judge(
  session: Session,
  call: Extract<HostCall, { readonly type: "judged" }>,
  ports: GuardedCallPorts & Pick<GuardedToolPorts, "run"> & { readonly confirmer: Confirmer },
): Promise<HostVerdict> {
  const { services, workspace, state, writer } = session;
  const { host, hostSession, callId, directory } = ports;
  const { signal } = new AbortController();
  const turnId = `${host.id} ${hostSession}`;
  using tree = new WorkingTreeClaim(services.locks, workspace.place, session.id);
  // How long the host holds a file nobody knows: it is kept from a tree that one of us writes to, and keeps nobody from it.
  const rules = await loadTurnRules(session, {
    editingMode: "branch",
    claimTree: () => tree.look(),
    signal,
    isolation: "unsandboxed",
  });
  const tool = guardedTool(call, {
    workspace,
    directory,
    home: services.home,
    loadWeb: () => services.loadWeb(),
    searchExcludes: rules.searchExcludes,
    run: ports.run,
  });
  const journal = new SessionJournal(session, {
    writer,
    modelId: host.id,
    governance: rules.governance,
    notes: new NotedFiles(),
    forUser: true,
    guarded: { agent: host.id, agentSession: hostSession },
  });
  const gate = governTools({
    sessionId: session.id,
    tools: new Map([[tool.name, tool]]),
    policies: rules.policies,
    confirmer: ports.confirmer,
    journal: withPostToolHooks(journal, rules.hooks.commands, {
      runner: rules.hooks.runner,
      cwd: workspace.controlRoot,
      sessionId: session.id,
      signal,
    }),
    standingCheck: services.emergency.standingCheck,
    observer: services.observer.gate,
    redactor: services.redactor,
    remembered: session.remembered,
    policySha256: rules.digest(rules.policies),
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

/** For the agent's model and its user: why, what to do instead, and by which rule. */
function reasonOf({ code, message, hint, rule }: ToolError, session: Session): string {
  // That tool is ours, and the agent has none of ours.
  const next =
    rule === "intents/required"
      ? `Ask the user to select an intent for the session ${session.id} in Gennai.`
      : code === "nobody_to_ask"
        ? "Tell the user: no rule can allow it, so they have to do it themselves."
        : hint;
  const by = rule === undefined ? "Gennai" : `Gennai, rule ${rule}`;
  return [message, ...(next === undefined ? [] : [next]), `(${by})`].join(" ");
}
