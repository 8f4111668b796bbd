import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ServiceError } from "@gennai/machine/service-error";
import { hasCode } from "@gennai/machine/system-error";
import { directoryName } from "@gennai/sessions/session/directory-name";
import type { LogAddress } from "@gennai/store/nats/stream/log-address";
import { ensureTenantLedgerKey } from "../identity/tenant-ledger-key.ts";
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
