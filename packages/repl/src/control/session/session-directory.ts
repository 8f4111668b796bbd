import type { AgentClient } from "@gennai/client/connection/connection";
import { listForPerson, listSessions, type SessionSummary } from "@gennai/client/session/session-list";
import { type ReadonlySignal, signal } from "@preact/signals";

export interface ScenarioChoice {
  readonly name: string;
  readonly description: string;
}

export interface SkillChoice {
  readonly name: string;
  readonly description: string;
}

/** Most sessions that are listed and searched. */
const listed = 1000;

/** Sessions, scenarios and skills of a workspace. All methods reject with `ConnectError`. */
export class SessionDirectory {
  readonly #client: AgentClient;
  readonly #workspace: string | undefined;
  readonly #elsewhere: boolean;
  readonly #sessions = signal<readonly SessionSummary[]>([]);
  /** Those that wait for an answer first, then the newest. */
  readonly sessions: ReadonlySignal<readonly SessionSummary[]> = this.#sessions;
  readonly #scenarios = signal<readonly ScenarioChoice[]>([]);
  readonly scenarios: ReadonlySignal<readonly ScenarioChoice[]> = this.#scenarios;
  readonly #skills = signal<readonly SkillChoice[]>([]);
  /** Skills of the session whose scenarios were loaded last. */
  readonly skills: ReadonlySignal<readonly SkillChoice[]> = this.#skills;

  /**
   * @param workspace absolute path; undefined: the server's default
   * @param options.elsewhere whether sessions of other folders can be gone to
   */
  constructor(client: AgentClient, workspace: string | undefined, { elsewhere }: { readonly elsewhere: boolean }) {
    this.#client = client;
    this.#workspace = workspace;
    this.#elsewhere = elsewhere;
  }

  /** @param workingDir undefined: the workspace */
  async loadSessions(workingDir: string | undefined, abort: AbortSignal): Promise<void> {
    const here = workingDir ?? (await this.#folder(abort));
    const elsewhere = this.#elsewhere;
    this.#sessions.value = await listForPerson(this.#client, here, { limit: listed, elsewhere, signal: abort });
  }

  /** Loads scenarios and skills. @param sessionId adds those of this session's workspace; empty: only built-in ones */
  async loadScenarios(sessionId: string, abort: AbortSignal): Promise<void> {
    const { scenarios, skills } = await this.#client.listScenarios({ sessionId }, { signal: abort });
    this.#scenarios.value = scenarios.map(({ name, description }) => ({ name, description }));
    this.#skills.value = skills.map(({ name, description }) => ({ name, description }));
  }

  async newest(abort: AbortSignal): Promise<SessionSummary | undefined> {
    return (await listSessions(this.#client, await this.#folder(abort), { limit: 1, signal: abort }))[0];
  }

  async #folder(abort: AbortSignal): Promise<string> {
    return this.#workspace ?? (await this.#client.getServerInfo({}, { signal: abort })).defaultWorkingDir;
  }
}
