import { platform as currentPlatform, homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where the user's own configuration lies: `~/.config/gennai`, or what the platform has in its place. */
export function userConfigDir(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = currentPlatform(),
  home: string = homedir(),
): string {
  const configured = env["XDG_CONFIG_HOME"];
  if (configured !== undefined && isAbsolute(configured)) return join(configured, "gennai");
  if (platform === "win32") return join(env["APPDATA"] || join(home, "AppData", "Roaming"), "gennai");
  return join(home, ".config", "gennai");
}
