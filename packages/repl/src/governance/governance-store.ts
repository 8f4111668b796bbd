import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { CallOptions, GovernanceClient } from "@gennai/client/connection/connection";
import { setEmergencyControl } from "@gennai/client/governance/emergency";
import { acceptIntents, type IntentSummary, intentsToAccept, selectIntent } from "@gennai/client/governance/intents";
import {
  acceptMcpServer,
  listMcpServers,
  logInAtMcpServer,
  type NamedMcpServer,
  type NamedMcpServers,
} from "@gennai/client/governance/mcp-servers";
import {
  listStandingAnswers,
  revokeStandingAnswers,
  type StandingAnswer,
} from "@gennai/client/governance/standing-answers";
import type { RulesFact } from "@gennai/client/view/session-facts";
import {
  type EmergencyControl,
  type EmergencyState,
  emergencyFromMessage,
} from "@gennai/protocol/model/governance/emergency";
import { type IntentsMode, intentsModeWords } from "@gennai/protocol/model/governance/intents-mode";
import { PanelStore, type StoreCall } from "../look/panel-store.ts";
import type { Problem } from "../look/problem.ts";
import type { ManagedPolicy } from "./managed-section.tsx";

export interface GovernedIntent extends IntentSummary {
  readonly ownedScope: readonly string[];
  readonly constraints: readonly string[];
}

/** What governs a session. */
export interface GovernanceView {
  readonly emergency: EmergencyState;
  readonly rules: RulesFact & { readonly policySha256: string };
  /** `sandboxed`, `unsandboxed`, or empty if the server does not say. */
  readonly isolation: string;
  readonly intentsMode: IntentsMode;
  readonly intents: readonly GovernedIntent[];
  readonly intentWarnings: readonly string[];
  /** SHA-256 of the intents file if a person must still accept it; else empty. */
  readonly intentsToAccept: string;
  readonly activeIntentId: string;
  readonly answers: readonly StandingAnswer[];
  readonly mcp: NamedMcpServers;
  readonly capabilities: {
    readonly name: string;
    readonly capabilities: readonly string[];
    readonly expires: Date | undefined;
    readonly problem: string;
  };
  readonly managed: readonly ManagedPolicy[];
}

export interface GovernanceStoreState {
  /** undefined until it is loaded. */
  readonly view: GovernanceView | undefined;
  readonly busy: boolean;
  readonly problem: Problem | undefined;
  /** A login at an MCP server that waits for the person; without an address until it is known. */
  readonly login: { readonly name: string; readonly address: URL | undefined } | undefined;
  /** Number of turns that the last switch ended. */
  readonly stopped: number;
}

export interface GovernanceStoreOptions {
  readonly client: GovernanceClient;
  /** Empty: the default workspace. */
  readonly sessionId: string;
  /** Name of the person who switches; recorded. */
  readonly by: string;
}

/** What governs a session, and the person's switches. Load it again when an event reports a change. */
export class GovernanceStore extends PanelStore<GovernanceStoreState> {
  readonly #options: GovernanceStoreOptions;
  #login = new AbortController();

  constructor(options: GovernanceStoreOptions) {
    super({ view: undefined, busy: false, problem: undefined, login: undefined, stopped: 0 });
    this.#options = options;
  }

  async load(): Promise<void> {
    await this.#change("Load", async () => undefined);
  }

  async switch(
    control: EmergencyControl,
    enabled: boolean,
    details: { readonly tool: string; readonly reason: string },
  ): Promise<void> {
    const { client, by } = this.#options;
    await this.#change("Emergency control", async (options) => {
      const stopped = await setEmergencyControl(client, { control, enabled, by, ...details }, options);
      this.set({ stopped: stopped.length });
    });
  }

  async select(intentId: string): Promise<void> {
    const { client, sessionId } = this.#options;
    await this.#change("Select intent", (options) => selectIntent(client, sessionId, intentId, options));
  }

  /** @param sha256 digest of the file as it was shown */
  async acceptIntents(sha256: string): Promise<void> {
    const { client, sessionId } = this.#options;
    await this.#change("Accept intents", (options) => acceptIntents(client, sessionId, sha256, options));
  }

  /** @param id of one answer; undefined: all */
  async revoke(id: string | undefined): Promise<void> {
    const { client, sessionId } = this.#options;
    await this.#change("Ask again", (options) => revokeStandingAnswers(client, sessionId, id, options));
  }

  /** Accepts a server, which starts with the next turn. */
  async acceptMcp(server: NamedMcpServer): Promise<void> {
    const { client, sessionId } = this.#options;
    await this.#change("Accept MCP server", (options) => acceptMcpServer(client, sessionId, server, options));
  }

  /** Logs in at a server, until the person has agreed in a browser, or `stopLogin`. */
  async logIn(name: string): Promise<void> {
    const { client, sessionId } = this.#options;
    this.stopLogin();
    const login = new AbortController();
    this.#login = login;
    this.set({ login: { name, address: undefined }, problem: undefined });
    const signal = AbortSignal.any([login.signal, this.over]);
    try {
      await logInAtMcpServer(client, sessionId, name, (address) => this.set({ login: { name, address } }), { signal });
      this.set({ login: undefined, view: await loadGovernance(this.#options, { signal }) });
    } catch (error) {
      if (signal.aborted) return;
      this.set({ login: undefined });
      this.fail(error, "Log in");
    }
  }

  stopLogin(): void {
    this.#login.abort();
    this.set({ login: undefined });
  }

  /** What is in force is loaded in any case: a change is refused where it was another one that a person saw. */
  async #change(action: string, run: (call: StoreCall) => Promise<unknown>): Promise<void> {
    await this.attempt(action, { during: { busy: true, stopped: 0 }, after: { busy: false } }, async (options) => {
      try {
        await run(options);
      } finally {
        this.set({ view: await loadGovernance(this.#options, options) });
      }
    });
  }
}

async function loadGovernance(
  { client, sessionId }: GovernanceStoreOptions,
  options: CallOptions,
): Promise<GovernanceView> {
  const [status, intents, answers, mcp] = await Promise.all([
    client.getGovernanceStatus({ sessionId }, options),
    client.listIntents({ sessionId }, options),
    listStandingAnswers(client, sessionId, options),
    listMcpServers(client, sessionId, options),
  ]);
  const { emergency, rules, capabilities } = status;
  return {
    emergency: emergencyFromMessage(emergency),
    rules: {
      count: rules?.count ?? 0,
      text: rules?.text ?? "",
      lastViolation: rules?.lastViolation ?? "",
      problems: rules?.problems ?? [],
      policySha256: rules?.policySha256 ?? "",
    },
    isolation: status.isolation,
    intentsMode: intentsModeWords.fromMessage(status.intentsMode) ?? "auto",
    intents: intents.intents,
    intentWarnings: intents.warnings,
    intentsToAccept: intentsToAccept(status, intents),
    activeIntentId: intents.activeIntentId,
    answers,
    mcp,
    capabilities: {
      name: capabilities?.name ?? "",
      capabilities: capabilities?.capabilities ?? [],
      expires: capabilities?.expires === undefined ? undefined : timestampDate(capabilities.expires),
      problem: capabilities?.problem ?? "",
    },
    managed: status.managed,
  };
}
