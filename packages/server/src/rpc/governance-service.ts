import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import type { Intent } from "@gennai/governance/intents/intent";
import { permitted, problemOf } from "@gennai/governance/limits/limits";
import { shownKeys } from "@gennai/governance/limits/shown-keys";
import type { RuleFile } from "@gennai/governance/rules/compile/rule-set";
import { listedRules } from "@gennai/governance/rules/listed-rules";
import { ruleActivity } from "@gennai/governance/rules/rule-activity";
import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import type { GuardedHosts } from "@gennai/guard/guarded-hosts";
import { ServiceError } from "@gennai/machine/service-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { emergencyToMessage } from "@gennai/protocol/model/governance/emergency";
import { type IntentsMode, intentsModeWords } from "@gennai/protocol/model/governance/intents-mode";
import {
  type CallTrace,
  callTraceToMessage,
  type LineTrace,
  lineTraceToMessage,
  mostTracedBytes,
} from "@gennai/protocol/model/governance/line-trace";
import { riskWords } from "@gennai/protocol/model/governance/risk";
import { verdictWords } from "@gennai/protocol/model/governance/tool-outcome";
import { protocolDigest, protocolVersion } from "@gennai/protocol/spoken-protocol";
import type { RecordedCall } from "@gennai/provenance/remaining-lines";
import { heldByClient } from "@gennai/sessions/client-workspace/held-by-client";
import type { IntentsStatus } from "@gennai/sessions/intents/intents-service";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { McpAcceptance } from "@gennai/sessions/mcp/mcp-acceptance";
import { chooseScenario } from "@gennai/sessions/policies/choose-scenario";
import { turnPrompt } from "@gennai/sessions/prompt/turn-prompt";
import type { EmergencyControls } from "@gennai/sessions/rules/emergency-controls";
import type { LoadedLimits } from "@gennai/sessions/rules/load-limits";
import type { StandingAnswer, StandingAnswers } from "@gennai/sessions/rules/standing-answers";
import type { Session } from "@gennai/sessions/session/session";
import { checkCall } from "@gennai/sessions/turn/gate/check-call";
import type { StoredRecord } from "@gennai/store/audit/ledger-records";
import type { WorkspaceLedgerReport } from "@gennai/store/audit/ledger-verify";
import type { GoverningAct } from "@gennai/store/ledger/record-act";
import { isolationOf } from "./open-stages.ts";
import type { Parity } from "./parity.ts";
import { controlFromWire, intentToWire, listedRulesToWire, rulesStatusToWire } from "./wire/events/governance-wire.ts";
import { mcpServerToWire } from "./wire/mcp-wire.ts";

const maxRecords = 1_000;

/** The workspace that is asked about; without a session when none was named. */
export interface GovernedWorkspace {
  readonly workspaceRoot: string;
  readonly session: Session | undefined;
}

export interface IntentsReport extends Pick<IntentsStatus, "mode" | "intents" | "sha256" | "accepted"> {
  readonly warnings: readonly string[];
  /** Empty when none is selected. */
  readonly activeIntentId: string;
}

export interface GovernanceServiceOptions {
  readonly manager: SessionManager;
  readonly guarded: Pick<GuardedHosts, "tell">;
  readonly emergency: Pick<EmergencyControls, "current" | "set">;
  readonly loadLimits: () => Promise<LoadedLimits>;
  readonly ledger: {
    /** Records after a seq, in order. */
    records(workspaceRoot: string, afterSeq: number, limit: number): readonly StoredRecord[];
    /** The newest records before a seq, in order. */
    newest(workspaceRoot: string, beforeSeq: number, limit: number): readonly StoredRecord[];
    verify(workspaceRoot: string): Promise<WorkspaceLedgerReport>;
  };
  /** Provenance of lines in a workspace. */
  readonly provenance: {
    lines(workspaceRoot: string, file: { readonly path: string; readonly text: string }): Promise<LineTrace>;
    /** In a workspace whose files are on this machine. */
    call(workspaceRoot: string, call: RecordedCall): Promise<CallTrace>;
  };
  /** Records what the caller decides about a workspace, before it holds. Rejects with `StoreError`. */
  readonly recordAct: (place: GovernedWorkspace, act: GoverningAct) => Promise<void>;
  /** Lasting answers of a workspace. */
  readonly answers: (workspaceRoot: string) => Pick<StandingAnswers, "list" | "revoke">;
  /** MCP servers of a workspace and their acceptance. */
  readonly mcp: (workspaceRoot: string) => Pick<McpAcceptance, "status" | "accept" | "logIn">;
  /**
   * Whether callers may be others than the operator: an MCP server runs with the operator's rights, and its configuration
   * contains their keys.
   */
  readonly hasUsers: boolean;
  /** Digests of this deployment. */
  readonly parity: () => Promise<Parity>;
  /** The rule files in force, the floor first. */
  readonly ruleFiles: (place: GovernedWorkspace) => Promise<readonly RuleFile[]>;
  readonly rules: (place: GovernedWorkspace) => RulesStatus | Promise<RulesStatus>;
  readonly intents: {
    report(place: GovernedWorkspace): Promise<IntentsReport>;
    /** A person's choice. Throws `ServiceError` or `ToolFailure`. */
    select(session: Session, intentId: string): Promise<Intent>;
    /** Accepts and records what the user saw. Throws `ToolFailure`. */
    accept(session: Session, sha256: string): Promise<IntentsStatus>;
    /** A person's switch for the session's workspace, recorded in its ledger. */
    setMode(session: Session, mode: IntentsMode): Promise<Pick<IntentsStatus, "mode" | "on" | "why">>;
  };
}

/** Every RPC of GovernanceService, over ports. */
export function registerGovernanceService(router: ConnectRouter, options: GovernanceServiceOptions): void {
  router.service(GovernanceService, governanceService(options));
}

function governanceService(options: GovernanceServiceOptions): ServiceImpl<typeof GovernanceService> {
  const { manager, emergency, guarded } = options;

  async function placeOf(sessionId: string): Promise<GovernedWorkspace> {
    if (sessionId !== "") {
      const session = await manager.get(sessionId);
      return { workspaceRoot: session.workspace.place, session };
    }
    const workspaceRoot = await manager.workspaceOfCaller();
    if (workspaceRoot !== undefined) return { workspaceRoot, session: undefined };
    throw new ServiceError("invalid_argument", "session_id is empty and this server has no default workspace.");
  }

  /** An MCP server runs, and has logins, for the person who runs this server. */
  const forOperator = (what: string): void => {
    if (options.hasUsers)
      throw new ServiceError(
        "permission_denied",
        `Only the person who runs this server can ${what}, because it has that person's rights.`,
      );
  };

  return {
    async getGovernanceStatus({ sessionId }) {
      const place = await placeOf(sessionId);
      const limits = (await options.loadLimits()).current();
      const [expires] = limits.flatMap((limit) => limit.expires ?? []).sort((a, b) => a - b);
      const intents = await options.intents.report(place);
      return {
        emergency: emergencyToMessage(emergency.current()),
        rules: rulesStatusToWire(await options.rules(place)),
        isolation: isolationOf(manager.services.stages),
        intentsMode: intentsModeWords.toMessage(intents?.mode ?? "off"),
        activeIntentId: intents?.activeIntentId ?? "",
        capabilities: {
          name: limits.map(({ name }) => name).join(", ") || "default",
          capabilities: [...permitted(limits)],
          ...(expires === undefined ? {} : { expires: timestampFromMs(expires) }),
          problem: problemOf(limits) ?? "",
        },
        managed: limits.flatMap((limit) => {
          const { name, contact = "", holder } = limit;
          return holder === "root" ? [{ name, contact, keys: [...shownKeys(limit)] }] : [];
        }),
      };
    },

    async setEmergencyControl({ control, enabled, tool, by, reason }) {
      const { state, stoppedTurnIds } = await emergency.set({
        control: controlFromWire(control),
        enabled,
        tool,
        // An authenticated name takes precedence over a given one.
        by: manager.services.callers.current()?.user || by,
        reason,
        via: "rpc",
      });
      return { state: emergencyToMessage(state), stoppedTurnIds: [...stoppedTurnIds] };
    },

    async checkPolicy({ sessionId, tool, argumentsJson }) {
      const check = await checkCall(await manager.get(sessionId), tool, argumentsJson);
      return {
        verdict: verdictWords.toMessage(check.verdict),
        risk: riskWords.toMessage(check.risk),
        reason: check.reason,
        staged: check.staged,
        rules: check.fired.flatMap(({ verdict: fired }) =>
          fired.type === "allow"
            ? []
            : [
                {
                  rule: fired.finding.rule,
                  verdict: verdictWords.toMessage(fired.type),
                  reason: fired.finding.reason,
                  hint: fired.finding.hint ?? "",
                },
              ],
        ),
      };
    },

    async guardCall({ host, workingDir, payload }) {
      const answer = await guarded.tell(host, workingDir, payload);
      return answer === undefined ? {} : { answer };
    },

    async listRules({ sessionId }) {
      const place = await placeOf(sessionId);
      const files = await options.ruleFiles(place);
      const records = options.ledger.newest(place.workspaceRoot, Number.MAX_SAFE_INTEGER, maxRecords);
      return listedRulesToWire(listedRules(files, ruleActivity(records.map(({ json }) => json))));
    },

    async listIntents({ sessionId }) {
      const place = await placeOf(sessionId);
      const report = await options.intents.report(place);
      return {
        intents: (report?.intents ?? []).map(intentToWire),
        warnings: [...(report?.warnings ?? [])],
        activeIntentId: report?.activeIntentId ?? "",
        sha256: report?.sha256 ?? "",
        accepted: report?.accepted ?? false,
      };
    },

    async acceptIntents({ sessionId, sha256 }) {
      if (sha256 === "") throw new ServiceError("invalid_argument", "sha256 is empty: name the file that was seen.");
      const { intents } = await options.intents.accept(await manager.get(sessionId), sha256);
      return { intents: intents.map(intentToWire) };
    },

    async selectIntent({ sessionId, intentId }) {
      const session = await manager.get(sessionId);
      return { intent: intentToWire(await options.intents.select(session, intentId)) };
    },

    async setIntentsMode({ sessionId, mode }) {
      const wanted = intentsModeWords.fromMessage(mode);
      if (wanted === undefined) throw new ServiceError("invalid_argument", "mode must be auto, required or off.");
      const { mode: now, on, why } = await options.intents.setMode(await manager.get(sessionId), wanted);
      return { mode: intentsModeWords.toMessage(now), on, why };
    },

    async previewSystemPrompt({ sessionId, scenario }) {
      const session = await manager.get(sessionId);
      return { prompt: await turnPrompt(session, (await chooseScenario(session, scenario)).scenario) };
    },

    async listLedgerRecords({ sessionId, afterSeq, limit, newest, beforeSeq }) {
      if (limit < 0) throw new ServiceError("invalid_argument", "limit cannot be negative.");
      const after = recordNumber(afterSeq, "after_seq");
      const before = recordNumber(beforeSeq, "before_seq");
      if (newest && after > 0) throw new ServiceError("invalid_argument", "after_seq cannot be set beside newest.");
      if (!newest && before > 0) throw new ServiceError("invalid_argument", "before_seq needs newest.");
      const { workspaceRoot } = await placeOf(sessionId);
      const count = limit === 0 ? 100 : Math.min(limit, maxRecords);
      const records = newest
        ? options.ledger.newest(workspaceRoot, before === 0 ? Number.MAX_SAFE_INTEGER : before, count)
        : options.ledger.records(workspaceRoot, after, count);
      return { records: records.map(({ seq, json }) => ({ seq: BigInt(seq), json })) };
    },

    async verifyLedger({ sessionId }) {
      const { workspaceRoot } = await placeOf(sessionId);
      const { status, message, records, purged, problem } = await options.ledger.verify(workspaceRoot);
      return { status, message, records, purged, firstBadSeq: BigInt(problem?.seq ?? 0) };
    },

    async traceLines({ sessionId, path, text }) {
      const { workspaceRoot } = await placeOf(sessionId);
      checkTraced(path, text);
      return lineTraceToMessage(await options.provenance.lines(workspaceRoot, { path, text }));
    },

    async traceCall({ sessionId, turnId, callId }) {
      if (turnId === "" || callId === "")
        throw new ServiceError("invalid_argument", "Name a call: turn_id and call_id.");
      const { workspace } = await manager.get(sessionId);
      if (workspace.client !== undefined) throw heldByClient("The lines of a call cannot be traced there.");
      return callTraceToMessage(await options.provenance.call(workspace.place, { sessionId, turnId, callId }));
    },

    async listStandingAnswers({ sessionId }) {
      const { workspaceRoot } = await placeOf(sessionId);
      return { answers: (await options.answers(workspaceRoot).list()).map(standingAnswerToWire) };
    },

    async revokeStandingAnswers({ sessionId, id, all }) {
      if ((id === "") !== all) throw new ServiceError("invalid_argument", "Name one answer by its id, or set all.");
      const place = await placeOf(sessionId);
      const record = (answers_revoked: readonly string[]) => options.recordAct(place, { answers_revoked });
      const revoked = await options.answers(place.workspaceRoot).revoke(all ? undefined : id, record);
      return { revoked: revoked.map(standingAnswerToWire) };
    },

    async listMcpServers({ sessionId }) {
      const { workspaceRoot, session } = await placeOf(sessionId);
      // If a client holds the files, no MCP server starts.
      if (session !== undefined && session.workspace.root !== workspaceRoot) return {};
      const { servers, problems } = await options.mcp(workspaceRoot).status();
      return {
        servers: servers.map((status) => mcpServerToWire(status, { detailed: !options.hasUsers })),
        problems: options.hasUsers ? [] : [...problems],
      };
    },

    async *logInAtMcpServer({ sessionId, name }, { signal }) {
      forOperator("log in at MCP servers");
      const place = await placeOf(sessionId);
      const shown = Promise.withResolvers<string>();
      const record = (act: GoverningAct) => options.recordAct(place, act);
      const show = ({ href }: URL) => shown.resolve(href);
      const done = options
        .mcp(place.workspaceRoot)
        .logIn(name, { record, show, signal })
        .catch((error: unknown) => {
          throw new ServiceError("failed_precondition", `No login: ${errorMessage(error)}`, { cause: error });
        });
      // Also where the caller has gone.
      done.catch(() => undefined);
      const address = await Promise.race([shown.promise, done]);
      if (address !== undefined) yield { address };
      await done;
    },

    async acceptMcpServer({ sessionId, name, digest }) {
      forOperator("accept MCP servers");
      if (digest === "") throw new ServiceError("invalid_argument", "digest is empty: name what was seen.");
      const place = await placeOf(sessionId);
      const record = (act: GoverningAct) => options.recordAct(place, act);
      const accepted = await options.mcp(place.workspaceRoot).accept(name, record, digest);
      if (accepted === undefined) {
        throw new ServiceError(
          "failed_precondition",
          "This MCP server has changed since, or no server has this name.",
          {
            hint: "Look at the list again.",
          },
        );
      }
      return { server: mcpServerToWire({ ...accepted, accepted: true, changed: false }, { detailed: true }) };
    },

    async getParity() {
      const { version, policy, release } = await options.parity();
      return {
        version,
        protocolVersion,
        protocolSha256: protocolDigest(),
        policy: partsToWire(policy),
        emergency: emergencyToMessage(emergency.current()),
        release: partsToWire(release),
      };
    },
  };
}

function standingAnswerToWire({ acceptedAt, ...answer }: StandingAnswer) {
  return { ...answer, accepted: timestampFromMs(Date.parse(acceptedAt)) };
}

function partsToWire(parts: ReadonlyMap<string, string>) {
  return Array.from(parts, ([name, sha256]) => ({ name, sha256 }));
}

function checkTraced(path: string, text: string): void {
  const isPath = path !== "" && path.length <= 4096 && !path.startsWith("/") && !/(^|\/)\.\.(\/|$)|\0/.test(path);
  if (!isPath) throw new ServiceError("invalid_argument", "path must be relative to the workspace, with slashes.");
  if (Buffer.byteLength(text) > mostTracedBytes) {
    throw new ServiceError("invalid_argument", `text has at most ${mostTracedBytes} bytes.`);
  }
}

function recordNumber(seq: bigint, field: string): number {
  if (seq <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(seq);
  throw new ServiceError("invalid_argument", `${field} is too large.`);
}
