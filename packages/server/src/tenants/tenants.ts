import { createHash, createPrivateKey } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createFile } from "@gennai/machine/replace-file";
import { ServiceError } from "@gennai/machine/service-error";
import { hasCode } from "@gennai/machine/system-error";
import { syncDirectory } from "@gennai/machine/workspace/files/sync-directory";
import { errorMessage } from "@gennai/protocol/error-message";
import type { SessionsLoad } from "@gennai/sessions/manager/server-load";
import { directoryName } from "@gennai/sessions/session/user-workspaces";
import { recoverChanges } from "@gennai/shell/stages/recover-changes";
import { derivedKey } from "@gennai/store/ledger/derived-key";
import { ledgerKeyFile } from "@gennai/store/ledger/ledger-key";
import type { LogAddress } from "@gennai/store/nats/log-address";
import { hasOld, type OldOrder, type OldPurge, purgeOld } from "@gennai/store/purge/purge-old";
import { stateDirectoriesIn } from "@gennai/store/purge/storage-use";
import { openStore } from "@gennai/store/sqlite/store";
import { openTenant } from "./open-tenant.ts";
import type { ServerParts, Tenant, TenantDirectories } from "./tenant.ts";

type SharedParts = Omit<ServerParts, "sessionsOpen">;

interface TenantsPlace {
  /** The server's own, real path; those of many users lie in `tenants/` of it. */
  readonly stateDir: string;
  /** Real path under which each user has a directory; undefined on a server with one user. */
  readonly usersRoot: string | undefined;
  readonly sharedLog: LogAddress | undefined;
}

/** The tenants of a server: the only one, opened with it, or each on first use; kept until the server ends. */
export class Tenants implements AsyncDisposable {
  readonly #parts: SharedParts;
  readonly #place: TenantsPlace;
  readonly #opening = new Map<string, Promise<Tenant>>();
  readonly #open = new Set<Tenant>();
  #only: Tenant | undefined;

  private constructor(parts: SharedParts, place: TenantsPlace) {
    this.#parts = parts;
    this.#place = place;
  }

  /** Rejects with what opening the only one rejects with. */
  static async open(parts: SharedParts, place: TenantsPlace): Promise<Tenants> {
    const tenants = new Tenants(parts, place);
    if (place.usersRoot === undefined) tenants.#only = await tenants.of("");
    return tenants;
  }

  /** Undefined on a server with many users. */
  get only(): Tenant | undefined {
    return this.#only;
  }

  /**
   * Opened if it is not. Rejects with `ServiceError` `resource_exhausted` when there are too many, or with what opening it rejects with.
   * @param name empty on a server with one user, which has no other
   */
  of(name: string): Promise<Tenant> {
    const known = this.#opening.get(this.#only?.name ?? name);
    if (known !== undefined) return known;
    const { tenants: limit } = this.#parts.admission.limits;
    if (this.#opening.size >= limit) {
      const message = `This server has reached its limit of ${limit} tenants open.`;
      return Promise.reject(new ServiceError("resource_exhausted", message, { reason: "too_many_tenants" }));
    }
    const opening = this.#opened(name);
    this.#opening.set(name, opening);
    // A failed opening may be retried.
    opening.catch(() => this.#opening.delete(name));
    return opening;
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
    const loads = await Promise.all([...this.#open].map(({ manager }) => manager.load()));
    const sum = (what: keyof SessionsLoad): number => loads.reduce((total, load) => total + load[what], 0);
    return {
      sessionsOpen: sum("sessionsOpen"),
      turnsRunning: sum("turnsRunning"),
      subscribers: sum("subscribers"),
      eventsQueued: sum("eventsQueued"),
      requestsOpen: sum("requestsOpen"),
      backgroundRuns: sum("backgroundRuns"),
    };
  }

  /** Forgets old sessions of all tenants, also of those that are not open. Rejects with the signal's reason. */
  async purgeOld(order: OldOrder): Promise<OldPurge> {
    let purged = 0;
    const refusals: string[] = [];
    for (const directory of stateDirectoriesIn(this.#place.stateDir)) {
      order.signal.throwIfAborted();
      try {
        const open = [...this.#open].find(({ stateDir }) => stateDir === directory);
        const done = await (open === undefined ? this.#purgeClosed(directory, order) : open.manager.purgeOld(order));
        purged += done.purged;
        refusals.push(...done.refusals);
      } catch (error) {
        if (order.signal.aborted) throw error;
        refusals.push(errorMessage(error));
      }
    }
    return { purged, refusals };
  }

  async #purgeClosed(stateDir: string, order: OldOrder): Promise<OldPurge> {
    if (!hasOld(stateDir, order.before)) return { purged: 0, refusals: [] };
    const { options, watch } = this.#parts;
    const onWarning = (text: string): void => watch.log.warn(text);
    // Contents of changes that were interrupted would stay.
    await recoverChanges(stateDir);
    await using store = await openStore(stateDir, { toolVersion: options.version, onWarning });
    return await purgeOld(store.log, order);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closing = [...this.#opening.values()].map(async (opening) => {
      const tenant = await opening.catch(() => undefined);
      await tenant?.[Symbol.asyncDispose]();
    });
    const failed = (await Promise.allSettled(closing)).find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #opened(name: string): Promise<Tenant> {
    const tenant = await openTenant(
      { ...this.#parts, sessionsOpen: () => this.#sessionsOpen },
      await this.#placeOf(name),
    );
    this.#open.add(tenant);
    return tenant;
  }

  get #sessionsOpen(): number {
    return [...this.#open].reduce((sum, { manager }) => sum + manager.openCount, 0);
  }

  async #placeOf(name: string): Promise<TenantDirectories> {
    const { stateDir: serverDir, usersRoot, sharedLog } = this.#place;
    if (usersRoot === undefined) return { name: "", stateDir: serverDir, sharedLog };
    const stateDir = join(serverDir, "tenants", directoryName(name));
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    await claim(stateDir, name);
    await ensureTenantLedgerKey(serverDir, { name, stateDir });
    return { name, stateDir, usersRoot, sharedLog: sharedLog && logOf(sharedLog, name) };
  }
}

/** A tenant's own subjects and streams: its name says nothing that NATS reads as something else. */
function logOf(address: LogAddress, name: string): LogAddress {
  const tenant = createHash("sha256").update(name, "utf8").digest("hex").slice(0, 20);
  return { ...address, namespace: `${address.namespace}_${tenant}` };
}

/** Says whose directory it is, for people, and against a directory that was moved. */
async function claim(stateDir: string, tenant: string): Promise<void> {
  const file = join(stateDir, "tenant.json");
  try {
    await writeFile(file, `${JSON.stringify({ tenant })}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    if ((await readFile(file, "utf8")) === `${JSON.stringify({ tenant })}\n`) return;
    throw new ServiceError("unavailable", "A tenant's state directory is another tenant's.", { cause: error });
  }
}

/** PKCS #8 of an Ed25519 key, up to its 32 bytes (RFC 8410). */
const prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * Gives a new tenant its own ledger key, derived from the server's: no tenant's key reveals another's, and all replicas, which
 * share the server's key, derive the same. An existing key is kept.
 */
async function ensureTenantLedgerKey(
  serverStateDir: string,
  tenant: { readonly name: string; readonly stateDir: string },
): Promise<void> {
  const file = ledgerKeyFile(tenant.stateDir);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const seed = await derivedKey(serverStateDir, "gennai tenant ledger key", tenant.name);
  const key = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: "der", type: "pkcs8" });
  await createFile(file, key.export({ format: "pem", type: "pkcs8" }));
  await syncDirectory(dirname(file));
}
