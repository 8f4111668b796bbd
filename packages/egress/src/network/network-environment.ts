/** Environment of a command so that its connections are seen, and it gives up soon if they are refused. @param proxy address */
export function networkEnvironment(
  proxy: string,
  { hasWayOut }: { readonly hasWayOut: boolean },
): Readonly<Record<string, string>> {
  const own = "localhost,127.0.0.1,::1";
  const proxies: Record<string, string> = { NODE_USE_ENV_PROXY: "1" };
  for (const [name, value] of [
    ["http_proxy", proxy],
    ["https_proxy", proxy],
    ["all_proxy", proxy],
    ["no_proxy", own],
  ] as const) {
    proxies[name] = value;
    proxies[name.toUpperCase()] = value;
  }
  return Object.assign(proxies, onlyItsOwn, hasWayOut ? patientForSeconds : impatient);
}

/**
 * A yes is for what the command is about. An audit behind an install sends the names of all packages, also private ones, often to another
 * registry than they came from, and nobody asked for it: `npm audit` and `--audit` still do. So does a look for updates of the manager.
 */
const onlyItsOwn: Readonly<Record<string, string>> = {
  npm_config_audit: "false",
  npm_config_update_notifier: "false",
  pnpm_config_update_notifier: "false",
};

/** A program that retries a refused connection for minutes reports nothing meanwhile. */
const impatient: Readonly<Record<string, string>> = {
  npm_config_fetch_retries: "0",
  pnpm_config_fetch_retries: "0",
  PIP_RETRIES: "0",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  CARGO_NET_RETRY: "0",
  YARN_HTTP_RETRY: "0",
};

/** For a run with allowed hosts: short retries, since these may fail for a moment, and may lead on to refused hosts. */
const patientForSeconds: Readonly<Record<string, string>> = Object.fromEntries(
  ["npm_config", "pnpm_config"].flatMap((manager) => [
    [`${manager}_fetch_retry_mintimeout`, "1000"],
    [`${manager}_fetch_retry_maxtimeout`, "4000"],
  ]),
);
