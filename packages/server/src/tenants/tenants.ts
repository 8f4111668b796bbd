import { createHash, createPrivateKey } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ServiceError } from "@gennai/machine/service-error";
import { hasCode } from "@gennai/machine/system-error";
import { syncDirectory } from "@gennai/machine/workspace/files/sync-directory";
import { directoryName } from "@gennai/sessions/session/directory-name";
import { derivedKey } from "@gennai/store/ledger/derived-key";
import { ledgerKeyFile } from "@gennai/store/ledger/ledger-key";
import type { LogAddress } from "@gennai/store/nats/stream/log-address";
import type { Tenant, TenantDirectories } from "./tenant.ts";

export interface TenantsOptions {
  /** The server's own, real path; tenants lie in `tenants/` of it. */
  readonly stateDir: string;
  /** Real path. */
  readonly usersRoot: string;
  readonly sharedLog?: LogAddress;
  /** How many may be open at once. */
  readonly limit: number;
  readonly open: (place: TenantDirectories) => Promise<Tenant>;
}

/** The tenants of a server, each opened on first use and kept until the server ends. */
export class Tenants implements AsyncDisposable {
  readonly #options: TenantsOptions;
  readonly #open = new Map<string, Promise<Tenant>>();

  constructor(options: TenantsOptions) {
    this.#options = options;
  }

  /** Rejects with `ServiceError` `resource_exhausted` when there are too many, or with what opening one rejects with. */
  of(name: string): Promise<Tenant> {
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    if (this.#open.size >= this.#options.limit) {
      const message = `This server has reached its limit of ${this.#options.limit} tenants open.`;
      return Promise.reject(new ServiceError("resource_exhausted", message, { reason: "too_many_tenants" }));
    }
    const opening = this.#opened(name);
    this.#open.set(name, opening);
    // A failed opening may be retried.
    opening.catch(() => this.#open.delete(name));
    return opening;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled(this.#open.values());
    const closing = opened
      .filter((each) => each.status === "fulfilled")
      .map(async ({ value }) => value[Symbol.asyncDispose]());
    const failed = (await Promise.allSettled(closing)).find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #opened(name: string): Promise<Tenant> {
    const { stateDir: serverDir, usersRoot, sharedLog, open } = this.#options;
    const stateDir = join(serverDir, "tenants", directoryName(name));
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    await claim(stateDir, name);
    await ensureTenantLedgerKey(serverDir, { name, stateDir });
    return open({
      name,
      stateDir,
      usersRoot,
      ...(sharedLog === undefined ? {} : { sharedLog: logOf(sharedLog, name) }),
    });
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
  const draft = `${file}.${process.pid}.derived`;
  try {
    await writeFile(draft, key.export({ format: "pem", type: "pkcs8" }), { mode: 0o600, flag: "w" });
    // Unlike a rename, a link never replaces the key that is there.
    await link(draft, file);
    await syncDirectory(dirname(file));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
