/** Where a value stands in the settings. */
export type SettingsTarget = "user" | "workspace" | "folder";

/** The settings and secrets that a migration moves between. */
export interface MigrationPorts {
  /** A value exactly as it stands at a target; undefined: none. */
  read(key: string, target: SettingsTarget): unknown;
  /** undefined removes the value. */
  write(key: string, value: string | undefined, target: SettingsTarget): Promise<void>;
  storeToken(token: string): Promise<void>;
  /** True when `key` was migrated before. */
  wasMigrated(key: string): boolean;
  rememberMigrated(key: string): Promise<void>;
  warn(message: string): void;
}

/**
 * Takes over what earlier extensions kept in settings. A token never stays there: settings are synchronised and committed.
 * The server's address is taken from the user's own settings only, once: a workspace must not choose it.
 */
export async function migrateSettings(ports: MigrationPorts): Promise<void> {
  await migrateToken(ports);
  await migrateBaseUrl(ports);
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
      ? `The server's token stood in the ${places}: it was moved to the secret storage and removed there. If those settings were shared or synchronised, start the server with a new token.`
      : `The server's token stands in the ${places}. It was copied to the secret storage; remove gennai.authToken there yourself, and start the server with a new token if those settings were shared.`,
  );
}

async function migrateBaseUrl(ports: MigrationPorts): Promise<void> {
  const key = "rinawarp.baseUrl";
  if (ports.wasMigrated(key)) return;
  const value = ports.read(key, "user");
  if (value === undefined) return;
  await ports.rememberMigrated(key);
  if (typeof value !== "string" || !/^https?:\/\//i.test(value) || !URL.canParse(value)) return;
  const own = ports.read("gennai.baseUrl", "user");
  if (typeof own === "string" && own !== "") return;
  await ports.write("gennai.baseUrl", value, "user");
  ports.warn(`gennai.baseUrl was taken over from ${key}: ${value}. Empty it to use the server on this machine.`);
}
