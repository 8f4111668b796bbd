import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { intentContext } from "@gennai/governance/intents/intent-context";
import { permitted, problemOf } from "@gennai/governance/limits/limits";
import { shownKeys } from "@gennai/governance/limits/shown-keys";
import { listedRules } from "@gennai/governance/rules/listed-rules";
import { ruleActivity } from "@gennai/governance/rules/rule-activity";
import type { GuardedHosts } from "@gennai/guard/guarded-hosts";
import { ServiceError } from "@gennai/machine/service-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { emergencyToMessage } from "@gennai/protocol/model/governance/emergency";
import { intentsModeWords } from "@gennai/protocol/model/governance/intents-mode";
import { riskWords } from "@gennai/protocol/model/governance/risk";
import { verdictWords } from "@gennai/protocol/model/governance/tool-outcome";
import { protocolDigest, protocolVersion } from "@gennai/protocol/spoken-protocol";
import type { Approvals } from "@gennai/sessions/bridge/second-person";
import { placeOfCommands } from "@gennai/sessions/client-workspace/held-by-client";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { McpAcceptance } from "@gennai/sessions/mcp/mcp-acceptance";
import { chooseScenario } from "@gennai/sessions/policies/load-scenarios";
import { turnPrompt } from "@gennai/sessions/prompt/turn-prompt";
import type { EmergencyControls } from "@gennai/sessions/rules/emergency-controls";
import { type StandingAnswer, StandingAnswers } from "@gennai/sessions/rules/standing-answers";
import type { Session } from "@gennai/sessions/session/session";
import { checkCall } from "@gennai/sessions/turn/check-call";
import { readLedgerRecords, readNewestLedgerRecords } from "@gennai/store/audit/ledger-records";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { type GoverningAct, recordAct } from "@gennai/store/ledger/persons-ledger";
import { type TracedTenant, traceRpcs } from "./methods/trace-rpcs.ts";
import { isolationOf } from "./open-stages.ts";
import type { Parity } from "./parity.ts";
import { confirmation } from "./wire/answer-from-wire.ts";
import {
  approvalToWire,
  controlFromWire,
  intentToWire,
  listedRulesToWire,
  mcpServerToWire,
  rulesStatusToWire,
} from "./wire/events/governance-wire.ts";

const maxRecords = 1_000;

/** The workspace that is asked about; without a session when none was named. */
interface GovernedWorkspace {
  readonly workspaceRoot: string;
  readonly session: Session | undefined;
}

/** The tenant whose rules, intents and ledger people see and decide about. */
export interface GovernedTenant extends TracedTenant {
  readonly manager: SessionManager;
  readonly guarded: Pick<GuardedHosts, "tell">;
  readonly emergency: Pick<EmergencyControls, "current" | "set">;
  readonly approvals: Approvals;
  /**
   * Whether callers may be others than the operator: an MCP server runs with the operator's rights, and its configuration
   * contains their keys.
   */
  readonly hasUsers: boolean;
  /** Digests of this deployment. */
  readonly parity: () => Promise<Parity>;
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onWarning: (text: string) => void;
}

/** Every RPC of GovernanceService. */
export function registerGovernanceService(router: ConnectRouter, tenant: GovernedTenant): void {
  router.service(GovernanceService, governanceService(tenant));
}

function governanceService(tenant: GovernedTenant): ServiceImpl<typeof GovernanceService> {
  const { manager, emergency, guarded, stateDir } = tenant;
  const { services } = manager;

  async function placeOf(sessionId: string): Promise<GovernedWorkspace> {
    if (sessionId !== "") {
      const session = await manager.get(sessionId);
      return { workspaceRoot: session.workspace.place, session };
    }
    const workspaceRoot = await manager.workspaceOfCaller();
    if (workspaceRoot !== undefined) return { workspaceRoot, session: undefined };
    throw new ServiceError("invalid_argument", "session_id is empty and this server has no default workspace.");
  }

  const governanceOf = async ({ workspaceRoot, session }: GovernedWorkspace) =>
    services.governanceOf(session?.workspace ?? (await services.openWorkspace(workspaceRoot)));

  /** Records what the caller decides about a workspace, before it holds. Rejects with `StoreError`. */
  const recorded = ({ workspaceRoot, session }: GovernedWorkspace, act: GoverningAct): Promise<void> =>
    session === undefined
      ? recordAct(
          { ...act, via: "rpc" },
          { stateDir, workspaceRoot, toolVersion: tenant.version, onWarning: tenant.onWarning },
        )
      : decided(session, act);

  const mcpAt = (workspaceRoot: string) =>
    new McpAcceptance({
      workspaceRoot,
      stateDir,
      configDir: services.configDir,
      environment: tenant.environment,
      limits: async () => (await services.loadLimits()).current(),
    });

  /** An MCP server runs, and has logins, for the person who runs this server. */
  const forOperator = (what: string): void => {
    if (tenant.hasUsers)
      throw new ServiceError(
        "permission_denied",
        `Only the person who runs this server can ${what}, because it has that person's rights.`,
      );
  };

  return {
    async getGovernanceStatus({ sessionId }) {
      const place = await placeOf(sessionId);
      const limits = (await services.loadLimits()).current();
      const [expires] = limits.flatMap((limit) => limit.expires ?? []).sort((a, b) => a - b);
      const { rules, intents } = await governanceOf(place);
      return {
        emergency: emergencyToMessage(emergency.current()),
        rules: rulesStatusToWire(rules.status()),
        isolation:
          place.session === undefined ? isolationOf(services.stages) : placeOfCommands(place.session).isolation,
        intentsMode: intentsModeWords.toMessage((await intents.status()).mode),
        activeIntentId: place.session?.state.activeIntentId ?? "",
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
        by: services.callers.current()?.user || by,
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
      const files = await (await governanceOf(place)).rules.files();
      const records = readNewestLedgerRecords(stateDir, place.workspaceRoot, Number.MAX_SAFE_INTEGER, maxRecords);
      return listedRulesToWire(listedRules(files, ruleActivity(records.map(({ json }) => json))));
    },

    async listIntents({ sessionId }) {
      const place = await placeOf(sessionId);
      const { intents, problems, sha256, accepted } = await (await governanceOf(place)).intents.status();
      return {
        intents: intents.map(intentToWire),
        warnings: [...problems],
        activeIntentId: place.session?.state.activeIntentId ?? "",
        sha256,
        accepted,
      };
    },

    async acceptIntents({ sessionId, sha256 }) {
      if (sha256 === "") throw new ServiceError("invalid_argument", "sha256 is empty: name the file that was seen.");
      const session = await manager.get(sessionId);
      const { intents } = await services.governanceOf(session.workspace);
      const record = (intents_accepted: string) => decided(session, { intents_accepted });
      return { intents: (await intents.accept({ record, seen: sha256 })).intents.map(intentToWire) };
    },

    async selectIntent({ sessionId, intentId }) {
      const session = await manager.get(sessionId);
      const { intents } = await services.governanceOf(session.workspace);
      const intent = await intents.selectable(intentId);
      await session.selectIntent(intent, intentContext(intent));
      return { intent: intentToWire(intent) };
    },

    async setIntentsMode({ sessionId, mode }) {
      const wanted = intentsModeWords.fromMessage(mode);
      if (wanted === undefined) throw new ServiceError("invalid_argument", "mode must be auto, required or off.");
      const session = await manager.get(sessionId);
      const { intents } = await services.governanceOf(session.workspace);
      const before = (await intents.status()).mode;
      await intents.setMode(wanted, () => decided(session, { intents_mode: wanted, intents_mode_before: before }));
      const { mode: now, on, why } = await intents.status();
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
        ? readNewestLedgerRecords(stateDir, workspaceRoot, before === 0 ? Number.MAX_SAFE_INTEGER : before, count)
        : readLedgerRecords(stateDir, workspaceRoot, after, count);
      return { records: records.map(({ seq, json }) => ({ seq: BigInt(seq), json })) };
    },

    async verifyLedger({ sessionId }) {
      const { workspaceRoot } = await placeOf(sessionId);
      const { status, message, records, purged, problem } = await verifyWorkspaceLedger({
        workspaceRoot,
        stateDir,
      });
      return { status, message, records, purged, firstBadSeq: BigInt(problem?.seq ?? 0) };
    },

    ...traceRpcs(tenant, placeOf),

    async listStandingAnswers({ sessionId }) {
      const { workspaceRoot } = await placeOf(sessionId);
      return { answers: (await new StandingAnswers(stateDir, workspaceRoot).list()).map(standingAnswerToWire) };
    },

    async listApprovals() {
      const approvals = tenant.approvals.openTo(services.callers.current()?.user ?? "");
      return { approvals: approvals.map(approvalToWire) };
    },

    async answerApproval({ response, policySha256 }) {
      if (response === undefined) throw new ServiceError("invalid_argument", "There is no response.");
      const user = services.callers.current()?.user ?? "";
      tenant.approvals.answer(user, response.requestId, confirmation(response), policySha256);
      return {};
    },

    async revokeStandingAnswers({ sessionId, id, all }) {
      if ((id === "") !== all) throw new ServiceError("invalid_argument", "Name one answer by its id, or set all.");
      const place = await placeOf(sessionId);
      const record = (answers_revoked: readonly string[]) => recorded(place, { answers_revoked });
      const revoked = await new StandingAnswers(stateDir, place.workspaceRoot).revoke(all ? undefined : id, record);
      return { revoked: revoked.map(standingAnswerToWire) };
    },

    async listMcpServers({ sessionId }) {
      const { workspaceRoot, session } = await placeOf(sessionId);
      // If a client holds the files, no MCP server starts.
      if (session !== undefined && session.workspace.root !== workspaceRoot) return {};
      const { servers, problems } = await mcpAt(workspaceRoot).status();
      return {
        servers: servers.map((status) => mcpServerToWire(status, { detailed: !tenant.hasUsers })),
        problems: tenant.hasUsers ? [] : [...problems],
      };
    },

    async *logInAtMcpServer({ sessionId, name }, { signal }) {
      forOperator("log in at MCP servers");
      const place = await placeOf(sessionId);
      const shown = Promise.withResolvers<string>();
      const record = (act: GoverningAct) => recorded(place, act);
      const show = ({ href }: URL) => shown.resolve(href);
      const done = mcpAt(place.workspaceRoot)
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
      const record = (act: GoverningAct) => recorded(place, act);
      const accepted = await mcpAt(place.workspaceRoot).accept(name, record, digest);
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
      const { version, policy, release } = await tenant.parity();
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

/** Records what the caller decides about a workspace. Who the caller is, is known only where callers prove it. */
function decided(session: Session, act: GoverningAct): Promise<void> {
  const user = session.services.callers.current()?.user;
  return session.decided([], "session", {
    ...act,
    ...(user === undefined || user === "" ? {} : { by: user }),
    via: "rpc",
  });
}

function recordNumber(seq: bigint, field: string): number {
  if (seq <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(seq);
  throw new ServiceError("invalid_argument", `${field} is too large.`);
}
