const wantedOnLinux = {
  key: ["lookup"],
  presence: ["search"],
  keep: ["store", "--label", "A key for Gennai"],
} as const;
const wantedOnMac = {
  key: (entry: readonly string[]) => ["find-generic-password", ...entry, "-w"],
  presence: (entry: readonly string[]) => ["find-generic-password", ...entry],
  keep: (entry: readonly string[]) => ["add-generic-password", "-U", ...entry, "-w"],
} as const;

/**
 * The system's program for the entry of its keychain that has this account and the service `gennai`; undefined: there is none.
 * @param wanted `presence`: what the keychain reveals without the user's permission, nothing if there is no entry; `keep`: asks for the
 * key at the terminal, without showing it
 */
export function keychainCommand(
  platform: NodeJS.Platform,
  account: string,
  wanted: "key" | "presence" | "keep",
): { readonly program: string; readonly args: readonly string[] } | undefined {
  switch (platform) {
    case "linux":
      return { program: "secret-tool", args: [...wantedOnLinux[wanted], "service", "gennai", "account", account] };
    case "darwin":
      return { program: "security", args: wantedOnMac[wanted](["-s", "gennai", "-a", account]) };
    default:
      return undefined;
  }
}
