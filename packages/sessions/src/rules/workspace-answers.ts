import { sameEndpoint } from "@gennai/governance/endpoint";
import type { LastingConnections, StandingConnection } from "@gennai/governance/gate/confirm/lasting-connections";
import { PrivateJson } from "@gennai/store/private-json";
import * as z from "zod";

/** Yes answers that apply to all sessions of one workspace. */
class WorkspaceAnswers<Entry> {
  readonly #file: PrivateJson<Readonly<Record<string, readonly Entry[]>>>;
  readonly #workspaceRoot: string;

  /** @param options.name of the file, without its extension */
  constructor(
    stateDir: string,
    workspaceRoot: string,
    { name, entry }: { readonly name: string; readonly entry: z.ZodType<Entry> },
  ) {
    this.#file = new PrivateJson(stateDir, `${name}.json`, {
      schema: z.record(z.string(), z.array(entry)),
      nothing: {},
    });
    this.#workspaceRoot = workspaceRoot;
  }

  async list(): Promise<readonly Entry[]> {
    return (await this.#file.read())[this.#workspaceRoot] ?? [];
  }

  /** Revokes all, or those that are meant; resolves with them. */
  async revoke(isMeant: (one: Entry) => boolean = () => true): Promise<readonly Entry[]> {
    let revoked: readonly Entry[] = [];
    await this.change((known) => {
      revoked = known.filter(isMeant);
      return known.filter((one) => !isMeant(one));
    });
    return revoked;
  }

  /** Replaces the answers in force with what `change` returns. */
  protected change(change: (known: readonly Entry[]) => readonly Entry[]): Promise<void> {
    return this.#file.change(({ [this.#workspaceRoot]: known = [], ...others }) => {
      const changed = change(known);
      return changed.length === 0 ? others : { ...others, [this.#workspaceRoot]: changed };
    });
  }
}

const checkSchema = z.object({
  command: z.string(),
  /** Where the command comes from, e.g. `package.json`. */
  source: z.string(),
  /** Digest of the exact action that was shown: the command and what it was known to run. */
  actionSha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** The rules whose question was answered. */
  rules: z.array(z.string()),
  callId: z.string(),
  /** ISO 8601. */
  acceptedAt: z.string(),
});
export type AcceptedCheck = Readonly<z.infer<typeof checkSchema>>;

/** The checks of one workspace that a user accepted for all its sessions. */
export class AcceptedChecks extends WorkspaceAnswers<AcceptedCheck> {
  constructor(stateDir: string, workspaceRoot: string) {
    super(stateDir, workspaceRoot, { name: "accepted-checks", entry: checkSchema });
  }

  async find(actionSha256: string): Promise<AcceptedCheck | undefined> {
    return (await this.list()).find((check) => check.actionSha256 === actionSha256);
  }

  /** Replaces an earlier acceptance of the same command. */
  async accept(check: Omit<AcceptedCheck, "acceptedAt">): Promise<void> {
    const acceptedAt = new Date().toISOString();
    await this.change((known) => [
      ...known.filter(({ command }) => command !== check.command),
      { ...check, acceptedAt },
    ]);
  }
}

const connectionSchema = z.object({
  /** Including its verb, e.g. `npm install`. */
  program: z.string(),
  host: z.string(),
  port: z.int().min(1).max(65_535),
  /** For a private network: the address that the user was shown for the name. */
  address: z.string().optional(),
  /** Id of the call that was asked about; empty if allowed in advance. */
  callId: z.string(),
  /** ISO 8601. */
  acceptedAt: z.string(),
});
type AcceptedConnection = Readonly<z.infer<typeof connectionSchema>>;

/** What programs may reach in all sessions of one workspace, because a user allowed it. */
export class AcceptedConnections extends WorkspaceAnswers<AcceptedConnection> implements LastingConnections {
  constructor(stateDir: string, workspaceRoot: string) {
    super(stateDir, workspaceRoot, { name: "accepted-connections", entry: connectionSchema });
  }

  async find(program: string): Promise<readonly StandingConnection[]> {
    return (await this.list())
      .filter((one) => one.program === program)
      .map(({ host, port, address, callId }) =>
        address === undefined ? { host, port, callId } : { host, port, callId, address },
      );
  }

  async remember(program: string, connections: readonly StandingConnection[]): Promise<void> {
    const acceptedAt = new Date().toISOString();
    const added = connections.map(({ host, port, address, callId }): AcceptedConnection => {
      const one = { program, host, port, callId, acceptedAt };
      return address === undefined ? one : Object.assign(one, { address });
    });
    await this.change((known) => [
      ...known.filter((one) => !added.some((other) => other.program === one.program && sameEndpoint(one, other))),
      ...added,
    ]);
  }
}
