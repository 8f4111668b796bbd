import { randomUUID } from "node:crypto";
import { relative } from "node:path";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { runPolicies } from "@gennai/governance/gate/decide/run-policies";
import { shownNames } from "@gennai/governance/shown-names";
import { ServiceError } from "@gennai/machine/service-error";
import { isWithin } from "@gennai/protocol/is-within";
import type { KeptTrees, LayeredTree } from "@gennai/protocol/model/session/layer";
import { runStaged } from "@gennai/shell/run/run-staged";
import { type StagedLayer, stageLayer } from "@gennai/shell/stage-layer";
import { dropOpen, type OpenStage } from "@gennai/shell/stages/open-stages";
import type { Stages, ZeroAccess } from "@gennai/shell/stages/stages";
import { summariseTree } from "@gennai/stage/layer/layer-summary";
import { SessionLayer } from "@gennai/stage/layer/session-layer";
import { heldByClient } from "../client-workspace/held-by-client.ts";
import { loadTurnRules } from "../policies/turn-rules.ts";
import { SessionProposal } from "../proposal/session-proposal.ts";
import { failedAct, refusedAct, refuseInEmergency } from "../session/refuse-in-emergency.ts";
import type { Session } from "../session/session.ts";
import { holdTree } from "../session/working-tree-claim.ts";
import { editRecords } from "../tools/commands/edit-records.ts";

/** Maximum milliseconds for a policy. */
const policyTimeoutMs = 5_000;

/** What a session's commands created among the files that git ignores, by directory tree. */
export async function listLayer(session: Session): Promise<readonly LayeredTree[]> {
  const trees = (await (await layerOf(session))?.list()) ?? [];
  const open = operationOf(session);
  return open === undefined ? trees : [...trees, await listOperation(open)];
}

/** Drops some or all trees of the layer. @returns their paths. Throws `ServiceError` for a path that is not in it. */
export async function dropFromLayer(session: Session, paths: readonly string[]): Promise<readonly string[]> {
  session.refuseWhileRunning("drop anything");
  const layer = await layerOf(session);
  const open = paths.length === 0 || paths.includes(operationPath) ? operationOf(session) : undefined;
  const others = open === undefined ? paths : paths.filter((path) => path !== operationPath);
  const dropped: string[] = [];
  if (others.length > 0 || paths.length === 0) {
    dropped.push(...((await layer?.drop(named(layer, session, others))) ?? []));
  }
  if (open !== undefined) {
    await dropOpen(open);
    dropped.push(operationPath);
  }
  if (dropped.length > 0) await session.decided([], "review", { layer: "dropped", paths: dropped });
  return dropped;
}

/**
 * Copies trees of the layer into the workspace: judged like changes by a command, and applied as a whole. A rule that denies
 * refuses it. Without the digest of what the user saw, only says what it would do. Throws `ServiceError`.
 */
export async function keepFromLayer(
  session: Session,
  {
    paths,
    sha256,
    signal,
  }: { readonly paths: readonly string[]; readonly sha256: string; readonly signal: AbortSignal },
): Promise<KeptTrees> {
  const { services, workspace } = session;
  session.refuseWhileRunning("keep anything");
  refuseInEmergency(session, "Nothing was kept", keepTool);
  await session.catchUp();
  const layer = await layerOf(session);
  const { stages } = services;
  // It is kept alone: it can hold what git ignores, too.
  const open = paths.includes(operationPath) ? operationOf(session) : undefined;
  const trees = open === undefined ? named(layer, session, paths) : [operationPath];
  const from = open ?? layer;
  if (from === undefined || stages === undefined || trees.length === 0) throw nothingThere(session);
  const stale = ((await layer?.renew()) ?? []).filter((path) => trees.includes(path));
  if (stale.length > 0) {
    throw new ServiceError(
      "failed_precondition",
      `Nothing was kept: the workspace's own ${shownNames(stale)} changed since, so what commands made there is gone.`,
      { reason: "stale_file", hint: "Let the session make it again." },
    );
  }
  using tree = await holdTree(session, "Nothing was kept");
  // Also in Proposal Mode: the user wants it in the workspace itself.
  const editingMode = session.settings.editingMode === "proposal" ? "staged-proposal" : "branch";
  const rules = await loadTurnRules(session, { editingMode, claimTree: () => tree.claim(), signal });
  const { zeroAccess } = rules;
  const staged =
    from instanceof SessionLayer
      ? await stageLayer(from, trees, { stages, zeroAccess, workspaceRoot: workspace.root })
      : await stageOperation(session, from, { stages, zeroAccess, signal });
  let isSettled = false;
  try {
    const reasons = await judged(session, staged, { policies: rules.policies, signal });
    const files = staged.effects.length;
    const said = { paths: trees, files, reasons, sha256: staged.digest };
    if (sha256 !== staged.digest) return { ...said, kept: false };
    refuseInEmergency(session, "Nothing was kept", keepTool);
    const records = await editRecords(staged.edits(), { blobs: services.blobs, seen: session.seen });
    isSettled = true;
    const hint = "List what there is now: gennai stage list";
    await staged.keep().catch((error: unknown) => failedAct(error, "Nothing was kept", hint));
    session.seen.storeWritten(records.files);
    const changeSet = { type: "change-set-applied", changeSetId: `layer-${randomUUID()}`, ...records } as const;
    const events = records.files.length + records.directories.length === 0 ? [] : [changeSet];
    await session.decided(events, "applied", { layer: "kept", paths: trees, files, sha256 }, records.files);
    return { ...said, kept: true };
  } finally {
    if (!isSettled) await staged.drop();
  }
}

const keepTool = { name: "KeepLayer", statement: "Keep what commands made that git ignores" } as const;

/** @returns what policies ask about. Throws `ServiceError` for what one denies. */
async function judged(
  session: Session,
  { effects }: StagedForUser,
  { policies, signal }: { readonly policies: Parameters<typeof runPolicies>[0]; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const analysis = { statement: keepTool.statement, effects, done: true } as const;
  const input = {
    callId: keepTool.name,
    toolName: keepTool.name,
    args: {},
    access: "change",
    analysis,
    sessionId: session.id,
    turnId: "",
  } as const;
  const { verdict, fired } = await runPolicies(policies, input, { timeoutMs: policyTimeoutMs, signal });
  const { redactor } = session.services;
  if (verdict.type === "deny") {
    const { finding } = verdict;
    throw refusedAct("Nothing was kept", { ...finding, reason: await redactor.redact(finding.reason) });
  }
  const reasons = fired.flatMap((one) => (one.verdict.type === "ask" ? [one.verdict.finding.reason] : []));
  return Promise.all(reasons.map((reason) => redactor.redact(reason)));
}

async function layerOf({ id, services, workspace }: Session): Promise<SessionLayer | undefined> {
  if (workspace.client !== undefined) throw heldByClient("Its commands run there, and what they make stays there.");
  return services.stages?.layer(workspace.root, id);
}

/** Paths of trees for the requested paths, relative to the workspace; all if none is given. */
function named(layer: SessionLayer | undefined, session: Session, paths: readonly string[]): readonly string[] {
  const trees = layer?.trees.map(({ path }) => path) ?? [];
  if (layer === undefined || paths.length === 0) return trees;
  const prefix = relative(layer.root.path, session.workspace.root);
  return paths.flatMap((path) => {
    const name = [prefix, path.replace(/^\.\//, "").replace(/\/+$/, "")].filter((part) => part !== "").join("/");
    const found = trees.filter((tree) => isWithin(tree, { directory: name }));
    if (found.length === 0) throw nothingThere(session, path);
    return found;
  });
}

function nothingThere({ id }: Session, path?: string): ServiceError {
  const what = path === undefined ? "nothing that git ignores" : `no ${JSON.stringify(path.slice(0, 200))}`;
  return new ServiceError("not_found", `Session ${id} has made ${what} for itself.`, {
    hint: "gennai stage list names the trees; only whole ones can be kept.",
  });
}

/** How people name what is under way in git, beside the trees of a session's layer. */
const operationPath = ".git";

/** What is under way in git in a session; undefined for nothing. */
function operationOf({ id, services, workspace }: Session): OpenStage | undefined {
  return workspace.client === undefined ? services.stages?.open.of(id) : undefined;
}

/** It as a tree of the layer. */
async function listOperation(open: OpenStage): Promise<LayeredTree> {
  return { path: operationPath, command: open.operation, at: open.at, ...(await summariseTree(open.changes)) };
}

/** What a person brings into the workspace. */
type StagedForUser = Pick<StagedLayer, "effects" | "digest" | "edits" | "keep" | "drop">;

/** All of it as it would be in the workspace, unfinished. The holder keeps or drops it. Throws `ServiceError` if it is overtaken. */
async function stageOperation(
  session: Session,
  open: OpenStage,
  place: { readonly stages: Stages; readonly zeroAccess: ZeroAccess; readonly signal: AbortSignal },
): Promise<StagedForUser> {
  const [moved] = place.stages.open.movedSince(open);
  if (moved !== undefined) {
    throw new ServiceError("failed_precondition", `Nothing was kept: ${moved} changed since ${open.operation} began.`, {
      reason: "stale_file",
      hint: "Let the session go on: its changes become a proposal, or a branch.",
    });
  }
  const { id, services, workspace } = session;
  const { root: workspaceRoot } = workspace;
  const command = analyseCommand("true", { cwd: workspaceRoot, home: services.home, workspace: workspaceRoot });
  const staged = await runStaged(
    { command, cwd: workspaceRoot, timeoutMs: 60_000, confirmed: false, handsOver: true },
    {
      ...place,
      workspaceRoot,
      session: id,
      environment: services.commandEnvironment,
      unfinished: async () => (await SessionProposal.needed(session)).tree,
    },
    { signal: place.signal, onOutput: () => undefined },
  );
  const all = new Set<string>();
  return {
    ...staged,
    edits: () => staged.edits(all),
    keep: async () => {
      await staged.keep(all);
    },
  };
}
