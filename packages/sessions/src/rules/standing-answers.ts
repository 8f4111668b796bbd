import { endpointName } from "@gennai/governance/endpoint";
import { digestOf } from "@gennai/protocol/digest";
import { logOut } from "#mcp/mcp-login";
import { McpLogins } from "#mcp/mcp-logins";
import { type AcceptedCheck, AcceptedChecks, AcceptedConnections } from "./workspace-answers.ts";

/** A yes that applies in every session of a workspace. */
export interface StandingAnswer {
  /** Twelve hexadecimal digits; stable for the lifetime of the answer. */
  readonly id: string;
  readonly kind: "check" | "connection" | "login";
  /** What runs, is reached or has a login without a question, e.g. `npm install reaches registry.example:443`. */
  readonly statement: string;
  /** ISO 8601. */
  readonly acceptedAt: string;
}

/** All lasting answers of one workspace, of every kind, and the logins at MCP servers, which count in every workspace: for showing and revoking them. */
export class StandingAnswers {
  readonly #checks: AcceptedChecks;
  readonly #connections: AcceptedConnections;
  readonly #logins: McpLogins;

  constructor(stateDir: string, workspaceRoot: string) {
    this.#checks = new AcceptedChecks(stateDir, workspaceRoot);
    this.#connections = new AcceptedConnections(stateDir, workspaceRoot);
    this.#logins = new McpLogins(stateDir);
  }

  async list(): Promise<readonly StandingAnswer[]> {
    const checks = (await this.#checks.list()).map((check): StandingAnswer => {
      const { actionSha256, acceptedAt } = check;
      return { id: idOf({ actionSha256 }), kind: "check", statement: checkStatement(check), acceptedAt };
    });
    const connections = (await this.#connections.list()).map((one): StandingAnswer => {
      const { program, acceptedAt, address } = one;
      const where = address === undefined ? "" : ` at ${address}`;
      const statement = `${program} reaches ${endpointName(one)}${where}`;
      return { id: idOf(one), kind: "connection", statement, acceptedAt };
    });
    const logins = (await this.#logins.list()).map(({ place, since }): StandingAnswer => {
      const statement = `the MCP server ${place.name} has a login at ${place.url}`;
      return { id: idOf({ ...place, since }), kind: "login", statement, acceptedAt: since };
    });
    return [...checks, ...connections, ...logins];
  }

  /**
   * Revokes one or all answers; resolves with what was revoked.
   * @param id undefined: all
   * @param record gets the statements of the answers before they are revoked: if it rejects, nothing is revoked
   */
  async revoke(
    id: string | undefined,
    record: (statements: readonly string[]) => Promise<void>,
  ): Promise<readonly StandingAnswer[]> {
    const wanted = (await this.list()).filter((one) => id === undefined || one.id === id);
    if (wanted.length === 0) return [];
    await record(wanted.map(({ statement }) => statement));
    const ids = new Set(wanted.map((one) => one.id));
    await this.#checks.revoke(({ actionSha256 }) => ids.has(idOf({ actionSha256 })));
    await this.#connections.revoke((one) => ids.has(idOf(one)));
    for (const { place, since } of await this.#logins.list()) {
      if (ids.has(idOf({ ...place, since }))) await logOut(place, this.#logins);
    }
    return wanted;
  }
}

/** What an accepted check means, for people. */
export function checkStatement({ command, source }: Pick<AcceptedCheck, "command" | "source">): string {
  return `the check ${command} (${source}) runs`;
}

function idOf(answer: object): string {
  return digestOf(answer).slice(0, 12);
}
