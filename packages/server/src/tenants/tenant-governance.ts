import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename } from "node:path";
import { intentContext } from "@gennai/governance/intents/intent-context";
import type { CompiledRules } from "@gennai/governance/rules/compile/compile-rules";
import { floorRulesYaml } from "@gennai/governance/rules/floor-rules";
import type { WorkspaceRegistry } from "@gennai/machine/workspace/workspace-registry";
import { digestOf, sha256Hex } from "@gennai/protocol/digest";
import { McpAcceptance } from "@gennai/sessions/mcp/mcp-acceptance";
import { ruleFilePaths, ruleFileStamp } from "@gennai/sessions/rules/read-rule-file";
import { StandingAnswers } from "@gennai/sessions/rules/standing-answers";
import { WorkspaceHooks } from "@gennai/sessions/rules/workspace-hooks";
import type { Session } from "@gennai/sessions/session/session";
import type { GovernanceRegistry } from "@gennai/sessions/session/workspace-governance";
import { readLedgerRecords, readNewestLedgerRecords } from "@gennai/store/audit/ledger-records";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { type GoverningAct, recordAct } from "@gennai/store/ledger/record-act";
import type { GovernanceServiceOptions } from "../rpc/governance-service.ts";
import { createParity } from "../rpc/parity.ts";
import type { ServerOptions } from "./server-options.ts";
import { tenantProvenance } from "./tenant-provenance.ts";

/** What the governance of a tenant is based on. */
interface GovernedTenant
  extends Pick<GovernanceServiceOptions, "manager" | "guarded" | "emergency" | "loadLimits" | "hasUsers"> {
  readonly governance: GovernanceRegistry;
  readonly workspaces: WorkspaceRegistry;
  /** Real path of the default workspace. */
  readonly workspace: string | undefined;
  readonly options: Pick<ServerOptions, "version" | "releaseDirectory" | "protectedBranches" | "environment">;
  readonly configDir: string;
  readonly stateDir: string;
  readonly isolation: "sandboxed" | "unsandboxed";
  readonly flushLedgers: () => Promise<void>;
  readonly onWarning: (text: string) => void;
}

/** Rules, intents and ledger of a tenant, for users to see and decide. */
export function tenantGovernance(tenant: GovernedTenant): GovernanceServiceOptions {
  const limits = async () => (await tenant.loadLimits()).current();
  const { manager, guarded, emergency, loadLimits, governance, workspaces, workspace, options } = tenant;
  const { configDir, stateDir, isolation, hasUsers } = tenant;
  return {
    manager,
    guarded,
    emergency,
    loadLimits,
    parity: createParity({
      version: options.version,
      releaseDirectory: options.releaseDirectory,
      rules: async () => {
        if (workspace === undefined) return undefined;
        const { rules } = await governance.of(await workspaces.open(workspace));
        return rulesDigest({ root: workspace, home: homedir() }, await rules.current());
      },
      limits: loadLimits,
      hooks: async () =>
        workspace === undefined
          ? undefined
          : new WorkspaceHooks({ configDir, stateDir, workspaceRoot: workspace, limits }).load(),
      protectedBranches: options.protectedBranches ?? [],
      isolation,
    }),
    rules: async ({ session, workspaceRoot }) => {
      const opened = session?.workspace ?? (await workspaces.open(workspaceRoot));
      return (await governance.of(opened)).rules.status();
    },
    ruleFiles: async ({ session, workspaceRoot }) => {
      const opened = session?.workspace ?? (await workspaces.open(workspaceRoot));
      return (await governance.of(opened)).rules.files();
    },
    hasUsers,
    provenance: tenantProvenance(stateDir, tenant.flushLedgers),
    recordAct: ({ session, workspaceRoot }, act) =>
      session === undefined
        ? recordAct(
            { ...act, via: "rpc" },
            { stateDir, workspaceRoot, toolVersion: options.version, onWarning: tenant.onWarning },
          )
        : decided(session, act),
    mcp: (workspaceRoot) =>
      new McpAcceptance({ workspaceRoot, stateDir, configDir, environment: options.environment, limits }),
    answers: (workspaceRoot) => new StandingAnswers(stateDir, workspaceRoot),
    intents: tenantIntents({ workspaces, governance }),
    ledger: {
      records: (root, after, limit) => readLedgerRecords(stateDir, root, after, limit),
      newest: (root, before, limit) => readNewestLedgerRecords(stateDir, root, before, limit),
      verify: (workspaceRoot) => verifyWorkspaceLedger({ workspaceRoot, stateDir }),
    },
  };
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

/** Intents for users to see and choose, over the services of the workspaces. */
function tenantIntents({
  workspaces,
  governance,
}: Pick<GovernedTenant, "workspaces" | "governance">): GovernanceServiceOptions["intents"] {
  return {
    async report({ session, workspaceRoot }) {
      const { intents } = await governance.of(session?.workspace ?? (await workspaces.open(workspaceRoot)));
      const { problems, ...status } = await intents.status();
      return { ...status, warnings: problems, activeIntentId: session?.state.activeIntentId ?? "" };
    },
    async select(session, intentId) {
      const { intents } = await governance.of(session.workspace);
      const intent = await intents.selectable(intentId);
      await session.selectIntent(intent, intentContext(intent));
      return intent;
    },
    async accept(session, sha256) {
      const { intents } = await governance.of(session.workspace);
      const record = (accepted: string) => decided(session, { intents_accepted: accepted });
      return intents.accept({ record, seen: sha256 });
    },
    async setMode(session, mode) {
      const { intents } = await governance.of(session.workspace);
      const before = (await intents.status()).mode;
      await intents.setMode(mode, () => decided(session, { intents_mode: mode, intents_mode_before: before }));
      return intents.status();
    },
  };
}

/**
 * Digest of a workspace's rules, independent of its path: SHA-256 over the floor, the user's and the project's files, and the
 * rules in force, which differ if a file became invalid or disappeared. Warnings are excluded: they concern the place, not the
 * rules.
 */
async function rulesDigest(
  place: { readonly root: string; readonly home: string },
  inForce: CompiledRules,
): Promise<string> {
  const texts = await Promise.all(
    ruleFilePaths(place).map(async (at) => {
      const bytes = ruleFileStamp(at) === "" ? undefined : await readFile(at.path).catch(() => undefined);
      return { name: `${at.layer}/${basename(at.path)}`, sha256: bytes === undefined ? "" : sha256Hex(bytes) };
    }),
  );
  return digestOf({ floor: sha256Hex(floorRulesYaml), texts, inForce: inForce.contentSha256 });
}
