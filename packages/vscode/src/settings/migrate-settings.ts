/** The level of a setting. */
export type SettingsTarget = "user" | "workspace" | "folder";

/** The settings and secrets that a migration moves between. */
export interface MigrationPorts {
  /** The exact value at a level; undefined: not set. */
  read(key: string, target: SettingsTarget): unknown;
  /** undefined removes the value. */
  write(key: string, value: string | undefined, target: SettingsTarget): Promise<void>;
  storeToken(token: string): Promise<void>;
  /** True if an earlier version migrated `key`. */
  wasMigrated(key: string): boolean;
  warn(message: string): void;
}

/**
 * Takes over values that earlier extensions kept in settings. A token must not stay there, because settings are synchronised and
 * committed. The address of a RinaWarp daemon is not taken over: that speaks another protocol.
 */
export async function migrateSettings(ports: MigrationPorts): Promise<void> {
  await migrateToken(ports);
  await dropDaemonAddress(ports);
}

const targets: readonly SettingsTarget[] = ["user", "workspace", "folder"];

async function migrateToken(ports: MigrationPorts): Promise<void> {
  const found = targets.filter((target) => ports.read("gennai.authToken", target) !== undefined);
  if (found.length === 0) return;
  const token = found
    .map((target) => ports.read("gennai.authToken", target))
    .find((value): value is string => typeof value === "string" && value.trim() !== "");
  if (token !== undefined) await ports.storeToken(token.trim());
  const kept: SettingsTarget[] = [];
  for (const target of found) {
    await ports.write("gennai.authToken", undefined, target).catch(() => kept.push(target));
  }
  const places = found.map((target) => `${target} settings`).join(" and ");
  ports.warn(
    kept.length === 0
      ? `The server's token was in the ${places}: it was moved to the secret storage and removed there. If those settings were shared or synchronised, start the server with a new token.`
      : `The server's token is in the ${places}. It was copied to the secret storage. Remove gennai.authToken there; if those settings were shared, start the server with a new token.`,
  );
}

/** An earlier version took `rinawarp.baseUrl` over as our server's address; this undoes it. */
async function dropDaemonAddress(ports: MigrationPorts): Promise<void> {
  const key = "rinawarp.baseUrl";
  const daemon = ports.read(key, "user");
  if (typeof daemon !== "string" || daemon === "" || !ports.wasMigrated(key)) return;
  if (ports.read("gennai.baseUrl", "user") !== daemon) return;
  await ports.write("gennai.baseUrl", undefined, "user");
  ports.warn(
    `gennai.baseUrl was ${daemon}, taken over from ${key}. A RinaWarp daemon is not a Gennai server: the setting was emptied, and the server on this machine is used.`,
  );
}
