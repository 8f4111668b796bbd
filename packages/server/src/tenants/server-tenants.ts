import type { SessionsLoad } from "@gennai/sessions/manager/server-load";
import type { LogAddress } from "@gennai/store/nats/stream/log-address";
import { openTenant } from "./open-tenant.ts";
import type { ServerParts, Tenant, TenantDirectories } from "./tenant.ts";
import { Tenants } from "./tenants.ts";

/** The tenants of a server: the only one, opened with it, or each on first use. */
export class ServerTenants implements AsyncDisposable {
  readonly #parts: Omit<ServerParts, "sessionsOpen">;
  readonly #open = new Set<Tenant>();
  #only: Tenant | undefined;
  #many: Tenants | undefined;

  private constructor(parts: Omit<ServerParts, "sessionsOpen">) {
    this.#parts = parts;
  }

  /**
   * Rejects with what opening the only one rejects with.
   * @param place.usersRoot under which each user has a directory; undefined on a server with one user
   */
  static async open(
    parts: Omit<ServerParts, "sessionsOpen">,
    place: {
      readonly stateDir: string;
      readonly usersRoot: string | undefined;
      readonly sharedLog: LogAddress | undefined;
    },
  ): Promise<ServerTenants> {
    const tenants = new ServerTenants(parts);
    const { stateDir, usersRoot } = place;
    const sharedLog = place.sharedLog === undefined ? {} : { sharedLog: place.sharedLog };
    if (usersRoot === undefined) {
      tenants.#only = await tenants.#opened({ name: "", stateDir, ...sharedLog });
    } else {
      const { limits } = parts.admission;
      tenants.#many = new Tenants({
        stateDir,
        usersRoot,
        ...sharedLog,
        limit: limits.tenants,
        open: (each) => tenants.#opened(each),
      });
    }
    return tenants;
  }

  /** Undefined on a server with many users. */
  get only(): Tenant | undefined {
    return this.#only;
  }

  /** Opened if it is not. @param name empty on a server with one user */
  async of(name: string): Promise<Tenant> {
    const tenant = this.#only ?? (await this.#many?.of(name));
    if (tenant === undefined) throw new TypeError("There is no tenant.");
    return tenant;
  }

  /** False while another server may have taken over sessions of one of them. */
  get mayAct(): boolean {
    return [...this.#open].every((tenant) => tenant.mayAct);
  }

  /** How many of them have a store that is behind what was signed. */
  get rolledBack(): number {
    return [...this.#open].filter(({ isForward }) => !isForward).length;
  }

  /** How much the sessions of all of them have to do. */
  async load(): Promise<SessionsLoad> {
    const sum = {
      sessionsOpen: 0,
      turnsRunning: 0,
      subscribers: 0,
      eventsQueued: 0,
      requestsOpen: 0,
      backgroundRuns: 0,
    };
    for (const { manager } of this.#open) {
      const load = await manager.load();
      sum.sessionsOpen += load.sessionsOpen;
      sum.turnsRunning += load.turnsRunning;
      sum.subscribers += load.subscribers;
      sum.eventsQueued += load.eventsQueued;
      sum.requestsOpen += load.requestsOpen;
      sum.backgroundRuns += load.backgroundRuns;
    }
    return sum;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#only ?? this.#many)?.[Symbol.asyncDispose]();
  }

  async #opened(place: TenantDirectories): Promise<Tenant> {
    const sessionsOpen = (): number => [...this.#open].reduce((sum, { manager }) => sum + manager.openCount, 0);
    const tenant = await openTenant({ ...this.#parts, sessionsOpen }, place);
    this.#open.add(tenant);
    return tenant;
  }
}
