import type { AgentClient } from "@gennai/client/connection/connection";
import { type SessionSummary, summariesFromMessage } from "@gennai/client/session/session-summary";
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
  readonly #sessions = signal<readonly SessionSummary[]>([]);
  /** Newest first. */
  readonly sessions: ReadonlySignal<readonly SessionSummary[]> = this.#sessions;
  readonly #scenarios = signal<readonly ScenarioChoice[]>([]);
  readonly scenarios: ReadonlySignal<readonly ScenarioChoice[]> = this.#scenarios;
  readonly #skills = signal<readonly SkillChoice[]>([]);
  /** Skills of the session whose scenarios were loaded last. */
  readonly skills: ReadonlySignal<readonly SkillChoice[]> = this.#skills;

  /** @param workspace absolute path; undefined: the server's default */
  constructor(client: AgentClient, workspace: string | undefined) {
    this.#client = client;
    this.#workspace = workspace;
  }

  /** @param workingDir undefined: the workspace */
  async loadSessions(workingDir: string | undefined, abort: AbortSignal): Promise<void> {
    this.#sessions.value = await this.#list(workingDir, listed, abort);
  }

  /** Loads scenarios and skills. @param sessionId adds those of this session's workspace; empty: only built-in ones */
  async loadScenarios(sessionId: string, abort: AbortSignal): Promise<void> {
    const { scenarios, skills } = await this.#client.listScenarios({ sessionId }, { signal: abort });
    this.#scenarios.value = scenarios.map(({ name, description }) => ({ name, description }));
    this.#skills.value = skills.map(({ name, description }) => ({ name, description }));
  }

  async newest(abort: AbortSignal): Promise<SessionSummary | undefined> {
    return (await this.#list(undefined, 1, abort))[0];
  }

  async #list(wanted: string | undefined, limit: number, abort: AbortSignal): Promise<readonly SessionSummary[]> {
    const options = { signal: abort };
    const known = wanted ?? this.#workspace;
    const workingDir = known ?? (await this.#client.getServerInfo({}, options)).defaultWorkingDir;
    return summariesFromMessage(await this.#client.listSessions({ workingDir, limit }, options));
  }
}
