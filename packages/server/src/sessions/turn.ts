import { randomUUID } from "node:crypto";
import { systemPrompt } from "@gennai/agent/prompt/system-prompt";
import type { Scenario } from "@gennai/agent/scenarios/scenario";
import { toolsInMode } from "@gennai/agent/scenarios/tool-groups";
import type { BlobRef, SessionEvent } from "@gennai/agent/session-event";
import { runTurn, type TurnEnd } from "@gennai/agent/turn-loop";
import { governTools } from "@gennai/governance/gate/gate";
import { zeroAccessGlobs } from "@gennai/governance/policies/secrets";
import { SessionBridge } from "../bridge/session-bridge.ts";
import { loadProjectConfig } from "../config/project-config.ts";
import { ServiceError } from "../service-error.ts";
import { createTools } from "../tools/tool-set.ts";
import { readGitHead } from "../workspace/git-head.ts";
import { imageMediaType } from "./image-media-type.ts";
import type { Session } from "./session.ts";
import { SessionJournal } from "./session-journal.ts";
import { TreeClaimant } from "./tree-claimant.ts";
import { policyDigest, type TurnPolicyOptions, turnPolicies } from "./turn-policies.ts";

/** Milliseconds a policy may take. */
const policyTimeoutMs = 5_000;
const maxImages = 20;

export interface TurnInput {
  readonly text: string;
  /** Empty: the editing mode's own. */
  readonly scenario: string;
  readonly enableThinking: boolean;
  readonly images: readonly Uint8Array[];
  readonly clientTurnId: string;
}

/** A turn that is ready: dispose it when it has ended, or was never run. */
export interface PreparedTurn extends Disposable {
  /** First events of the turn; durable before it runs. */
  readonly openingEvents: readonly SessionEvent[];
  run(): Promise<TurnEnd>;
}

/** Builds everything one turn needs: scenario, model, tools behind the gate. Throws `ServiceError` or `ModelError`. */
export async function prepareTurn(
  session: Session,
  input: TurnInput & { readonly turnId: string },
  signal: AbortSignal,
): Promise<PreparedTurn> {
  const { services, settings, workspace, state } = session;
  const { turnId } = input;
  const { scenario, warnings } = await chooseScenario(session, input.scenario);
  const model = await services.createModel(settings);
  const images = await storeImages(session, input.images);
  const text = await services.redactor.redact(input.text);
  const head = readGitHead(workspace.root);

  const bridge = new SessionBridge({
    clients: session.clients,
    requests: session.requests,
    turnId: () => turnId,
    interactive: () => settings.interactive,
  });
  const tree = new TreeClaimant(services.locks, workspace.root, session.id);
  const rules: TurnPolicyOptions = {
    workspaceRoot: workspace.root,
    editingMode: settings.editingMode,
    sessionBranch: head.type === "branch" ? head.branch : undefined,
    protectedBranches: services.protectedBranches,
    config: await loadProjectConfig(workspace.root),
    claimTree: () => tree.claim(),
  };
  const offered = new Set(toolsInMode(scenario.tools, settings.editingMode));
  const tools = createTools({
    workspace,
    editor: bridge,
    blobs: services.blobs,
    knownFiles: state.knownFiles,
    todos: { read: () => state.todos },
    home: services.home,
    environment: services.commandEnvironment,
    exclude: [...zeroAccessGlobs, ...rules.config.denyPaths],
    now: services.now,
  });
  for (const name of [...tools.keys()]) if (!offered.has(name)) tools.delete(name);

  const policies = turnPolicies(rules);
  const { writer } = session;
  const journal = new SessionJournal({
    writer,
    blobs: services.blobs,
    context: {
      sessionId: session.id,
      modelId: model.id,
      isolation: services.isolation,
      revision: async () => {
        const now = readGitHead(workspace.root);
        return (now.type === "none" ? undefined : now.commit) ?? "";
      },
    },
    now: services.now,
    keepText: (sha256, content) => {
      session.keepText(sha256, content);
    },
  });
  const governed = governTools({
    sessionId: session.id,
    tools,
    policies,
    confirmer: bridge,
    journal,
    redactor: services.redactor,
    remembered: session.remembered,
    policySha256: policyDigest(rules, policies),
    policyTimeoutMs,
    now: services.now,
  });

  return {
    openingEvents: [
      { type: "status", state: "started", iteration: 0 },
      {
        type: "user-message",
        text,
        scenario: scenario.name,
        clientTurnId: input.clientTurnId,
        enableThinking: input.enableThinking,
        images,
      },
      ...warnings.map((warning): SessionEvent => ({ type: "warning", text: warning })),
    ],
    run: () =>
      runTurn({
        turnId,
        model,
        tools: governed,
        conversation: state.conversation,
        system: () => promptFor(session, scenario),
        enableThinking: input.enableThinking && model.capabilities.thinking,
        maxOutputTokens: settings.maxTokens,
        maxIterations: settings.maxIterations,
        sink: {
          emit: (event, itemId) => {
            writer.emit(event, { turnId, ...(itemId === undefined ? {} : { itemId }) });
          },
          flush: async () => {
            await writer.flush();
            await session.fillConversation();
          },
        },
        newItemId: randomUUID,
        signal,
      }),
    [Symbol.dispose]: () => {
      tree[Symbol.dispose]();
    },
  };
}

/** The system prompt of a turn with this scenario, as the model would get it now. */
function promptFor(session: Session, scenario: Scenario): string {
  return systemPrompt({
    scenario,
    workingDir: session.workspace.root,
    editingMode: session.settings.editingMode,
    platform: session.services.platform,
    date: new Date(session.services.now()).toISOString().slice(0, 10),
    todos: session.state.todos,
    projectNotes: "",
  });
}

async function chooseScenario(
  session: Session,
  asked: string,
): Promise<{ readonly scenario: Scenario; readonly warnings: readonly string[] }> {
  const name = asked === "" ? (session.settings.editingMode === "proposal" ? "EDITOR_CODE" : "CODE") : asked;
  const { scenarios, warnings } = await session.services.loadScenarios(session.workspace.root);
  const scenario = scenarios.get(name);
  if (scenario !== undefined) return { scenario, warnings };
  throw new ServiceError("not_found", `There is no scenario ${JSON.stringify(name.slice(0, 100))}.`, {
    hint: [`Scenarios: ${[...scenarios.keys()].join(", ")}.`, ...warnings].join(" "),
  });
}

async function storeImages(session: Session, images: readonly Uint8Array[]): Promise<readonly BlobRef[]> {
  if (images.length > maxImages) throw new ServiceError("invalid_argument", `At most ${maxImages} images go with a message.`);
  return Promise.all(
    images.map((bytes) => {
      const mediaType = imageMediaType(bytes);
      if (mediaType === undefined) {
        throw new ServiceError("invalid_argument", "An image must be PNG, JPEG, GIF or WebP.");
      }
      return session.services.blobs.put(bytes, mediaType);
    }),
  );
}

